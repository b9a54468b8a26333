#!/bin/bash
# Tells a running `plimsoll serve` of the commit that was just made; a git hook. Without a server
# `plimsoll init --git` does the same.
#
# CONTEXTS_ENV names the environment (default: development), CONTEXTS_URL the server.

ENV="${CONTEXTS_ENV:-development}"
CONTEXTS_URL="${CONTEXTS_URL:-http://localhost:8100}"

COMMIT_SHA=$(git rev-parse HEAD)
COMMIT_MSG=$(git log -1 --pretty=%B | head -1)
BRANCH=$(git branch --show-current)
FILES_CHANGED=$(git diff-tree --no-commit-id --name-only -r HEAD | wc -l)

SAVED=$(jq -n --arg environment "$ENV" --arg sha "$COMMIT_SHA" --arg message "$COMMIT_MSG" \
    --arg branch "$BRANCH" --arg files "$FILES_CHANGED" \
    '{environment: $environment, commit_sha: $sha, commit_message: $message, branch: $branch,
      files_changed: ($files | tonumber)}' |
    curl -s -X POST "$CONTEXTS_URL/hooks/git-commit" -H "Content-Type: application/json" -d @-)

if [ "$(printf '%s' "$SAVED" | jq -r '.status')" = "saved" ]; then
    echo "Session saved at commit ${COMMIT_SHA:0:8}"
else
    echo "Session not saved at commit ${COMMIT_SHA:0:8}" >&2
fi
