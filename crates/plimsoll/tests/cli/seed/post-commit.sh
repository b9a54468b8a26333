#!/bin/bash
# As the project's founding document on context management gives it, word for word.
# Git post-commit hook - save session state

ENV="${CONTEXTS_ENV:-development}"
CONTEXTS_URL="${CONTEXTS_URL:-http://localhost:8100}"

COMMIT_SHA=$(git rev-parse HEAD)
COMMIT_MSG=$(git log -1 --pretty=%B | head -1)
BRANCH=$(git branch --show-current)
FILES_CHANGED=$(git diff-tree --no-commit-id --name-only -r HEAD | wc -l)

curl -s -X POST "$CONTEXTS_URL/hooks/git-commit" \
    -H "Content-Type: application/json" \
    -d "{
        \"environment\": \"$ENV\",
        \"commit_sha\": \"$COMMIT_SHA\",
        \"commit_message\": \"$COMMIT_MSG\",
        \"branch\": \"$BRANCH\",
        \"files_changed\": $FILES_CHANGED
    }" > /dev/null

echo "Session saved at commit ${COMMIT_SHA:0:8}"
