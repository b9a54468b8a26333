#!/bin/bash
# Asks a running `plimsoll serve` how full a window is, and saves the session if it is nearly full.
#
#   context-monitor.sh <used_tokens> [max_tokens]
#
# CONTEXTS_ENV names the environment (default: development), CONTEXTS_URL the server.

ENV="${CONTEXTS_ENV:-development}"
CONTEXTS_URL="${CONTEXTS_URL:-http://localhost:8100}"

USED_TOKENS="$1"
MAX_TOKENS="${2:-200000}"

if [ -z "$USED_TOKENS" ]; then
    echo "Usage: context-monitor.sh <used_tokens> [max_tokens]"
    exit 1
fi

RESPONSE=$(curl -s -G "$CONTEXTS_URL/context/usage" \
    --data-urlencode "used_tokens=$USED_TOKENS" --data-urlencode "max_tokens=$MAX_TOKENS")
ACTION=$(printf '%s' "$RESPONSE" | jq -r '.action.type')

if [ "$ACTION" = "save_and_restart" ]; then
    echo "Context critical ($USED_TOKENS/$MAX_TOKENS). Auto-saving..."
    SAVED=$(jq -n --arg environment "$ENV" --arg used "$USED_TOKENS" --arg max "$MAX_TOKENS" \
        '{environment: $environment, used_tokens: ($used | tonumber), max_tokens: ($max | tonumber)}' |
        curl -s -X POST "$CONTEXTS_URL/context/auto-save" -H "Content-Type: application/json" -d @-)
    printf '%s\n' "$SAVED"
    if [ "$(printf '%s' "$SAVED" | jq -r '.status')" = "saved" ]; then
        echo "Session saved. Recommend: rs $ENV"
    else
        echo "Session not saved." >&2
    fi
elif [ "$ACTION" = "save" ]; then
    echo "Context warning ($USED_TOKENS/$MAX_TOKENS). Consider: ss"
fi
