#!/bin/bash
# As the project's founding document on context management gives it, word for word.
# Called by Claude Code to check context and auto-save if needed

ENV="${CONTEXTS_ENV:-development}"
CONTEXTS_URL="${CONTEXTS_URL:-http://localhost:8100}"

# Get context usage from Claude Code (passed as args)
USED_TOKENS="$1"
MAX_TOKENS="${2:-200000}"

if [ -z "$USED_TOKENS" ]; then
    echo "Usage: context-monitor.sh <used_tokens> [max_tokens]"
    exit 1
fi

# Check thresholds
RESPONSE=$(curl -s "$CONTEXTS_URL/context/usage?used_tokens=$USED_TOKENS&max_tokens=$MAX_TOKENS")
ACTION=$(echo "$RESPONSE" | jq -r '.action.type')

if [ "$ACTION" = "save_and_restart" ]; then
    echo "Context critical ($USED_TOKENS/$MAX_TOKENS). Auto-saving..."
    curl -s -X POST "$CONTEXTS_URL/context/auto-save" \
        -H "Content-Type: application/json" \
        -d "{\"environment\": \"$ENV\", \"used_tokens\": $USED_TOKENS, \"max_tokens\": $MAX_TOKENS}"
    echo ""
    echo "Session saved. Recommend: rs $ENV"
elif [ "$ACTION" = "save" ]; then
    echo "Context warning ($USED_TOKENS/$MAX_TOKENS). Consider: ss"
fi
