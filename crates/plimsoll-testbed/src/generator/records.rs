//! Templates of the client's transcript records.
//!
//! `$name` is replaced by the field of that name, `$prose900` by prose of that length, and an
//! unknown name by nothing.

pub(super) const HEAD: &str = r#""parentUuid":$parent,"isSidechain":$side"#;
pub(super) const TAIL: &str = r#","session_id":"$session","userType":"external","entrypoint":"cli","cwd":"/home/dev/project","sessionId":"$session","version":"2.1.325","gitBranch":"main""#;
pub(super) const INLINE_HEAD: &str = r#""parentUuid":$parent,"isSidechain":$side,"userType":"external","cwd":"/home/dev/project","sessionId":"$session","version":"2.0.76","gitBranch":"main""#;
pub(super) const USER: &str = r#"{$head$prompt$agent,"type":"user","message":{"role":"user","content":$content}$flags,"uuid":"$uuid","timestamp":"$time"$result$tail}"#;
pub(super) const ASSISTANT: &str = r#"{$head$agent,"message":{"id":"$message","type":"message","role":"assistant","model":"$model","content":[$block],"stop_reason":"$stop","stop_sequence":null,"usage":$usage,"stop_details":null},"apiBlockIndex":$index,"requestId":"$request","requestRef":"$ref","requestedModel":"$model","promptCacheRequested":"1h","type":"assistant","uuid":"$uuid","timestamp":"$time","effort":"medium","perTurnEffort":"medium","madeBy":"model"$tail}"#;
pub(super) const INLINE_ASSISTANT: &str = r#"{$head,"message":{"model":"$model","id":"$message","type":"message","role":"assistant","content":[$block],"stop_reason":"$stop","stop_sequence":null,"usage":$usage},"requestId":"$request","type":"assistant","uuid":"$uuid","timestamp":"$time"}"#;
pub(super) const USAGE: &str = r#"{"input_tokens":3,"cache_creation_input_tokens":$created,"cache_read_input_tokens":$read,"output_tokens":$output,"output_tokens_details":{"thinking_tokens":0},"server_tool_use":{"web_search_requests":0,"web_fetch_requests":0},"service_tier":"standard","cache_creation":{"ephemeral_1h_input_tokens":$created,"ephemeral_5m_input_tokens":0},"inference_geo":"","iterations":[{"input_tokens":3,"output_tokens":$output,"cache_read_input_tokens":$read,"cache_creation_input_tokens":$created,"cache_creation":{"ephemeral_5m_input_tokens":0,"ephemeral_1h_input_tokens":$created},"type":"message"}],"speed":"standard","fallback_credit":null}"#;
pub(super) const INLINE_USAGE: &str = r#"{"input_tokens":3,"cache_creation_input_tokens":$created,"cache_read_input_tokens":$read,"cache_creation":{"ephemeral_5m_input_tokens":$created,"ephemeral_1h_input_tokens":0},"output_tokens":$output,"service_tier":"standard"}"#;
pub(super) const API_ERROR: &str = r#"{$head,"type":"assistant","uuid":"$uuid","timestamp":"$time","message":{"diagnostics":null,"id":"$hash","container":null,"model":"<synthetic>","role":"assistant","stop_details":null,"stop_reason":"stop_sequence","stop_sequence":"","type":"message","usage":{"output_tokens_details":null,"input_tokens":0,"output_tokens":0,"cache_creation_input_tokens":0,"cache_read_input_tokens":0,"server_tool_use":{"web_search_requests":0,"web_fetch_requests":0},"service_tier":null,"cache_creation":{"ephemeral_1h_input_tokens":0,"ephemeral_5m_input_tokens":0},"inference_geo":null,"iterations":null,"speed":null,"fallback_credit":null},"content":[{"type":"text","text":"API Error: 529 {\"type\":\"error\",\"error\":{\"type\":\"overloaded_error\",\"message\":\"Overloaded\"}}"}],"context_management":null},"error":"unknown","isApiErrorMessage":true,"apiErrorStatus":529,"apiErrorType":"overloaded_error","madeBy":"model"$tail}"#;
pub(super) const HOOK_SUCCESS: &str = r#"{$head,"attachment":{"type":"hook_success","hookName":"$event","toolUseID":"$hash","hookEvent":"$event","content":"","stdout":$prose80,"stderr":"","exitCode":0,"command":"plimsoll hook","durationMs":2},"type":"attachment","uuid":"$uuid","timestamp":"$time"$tail}"#;
pub(super) const REQUEST_BLOB: &str = r#"{"type":"api-request-blob","sessionId":"$session","hash":"$hash","message":{"role":"user","content":[{"type":"text","text":$prose1500}]}}"#;
pub(super) const REQUEST: &str = r#"{"type":"api-request","sessionId":"$session","id":"$ref","timestamp":"$time","version":"2.1.325","querySource":"repl_main_thread","shapeHash":"$hash","params":{"model":"$model","betas":["claude-code-20250219","interleaved-thinking-2025-05-14","context-management-2025-06-27","effort-2025-11-24"],"max_tokens":128000,"thinking":{"type":"adaptive","display":"updates"},"context_management":{"edits":[{"type":"clear_thinking_20251015","keep":"all"}]},"output_config":{"effort":"medium"}},"keep":4,"tail":["$hash","$hash"],"cacheControl":[{"path":["system",0],"value":{"type":"ephemeral"}},{"path":["system",1],"value":{"type":"ephemeral"}}],"requestDigest":"$hash"}"#;
pub(super) const BOUNDARY: &str = r#"{"parentUuid":null,"logicalParentUuid":$parent,"isSidechain":false,"type":"system","subtype":"compact_boundary","content":"Conversation compacted","level":"info","compactMetadata":{"trigger":"$trigger","preTokens":$before,"postTokens":14000,"durationMs":14500},"uuid":"$uuid","timestamp":"$time"$tail}"#;
pub(super) const INLINE_BOUNDARY: &str = r#"{"parentUuid":null,"logicalParentUuid":$parent,"isSidechain":false,"userType":"external","cwd":"/home/dev/project","sessionId":"$session","version":"2.0.76","gitBranch":"main","type":"system","subtype":"compact_boundary","content":"Conversation compacted","isMeta":false,"timestamp":"$time","uuid":"$uuid","level":"info","compactMetadata":{"trigger":"$trigger","preTokens":$before}}"#;
pub(super) const FILE_HISTORY: &str = r#"{"type":"file-history-snapshot","messageId":"$hash","snapshot":{"messageId":"$hash","trackedFileBackups":{},"timestamp":"$time"},"isSnapshotUpdate":false}"#;
pub(super) const TURN_DURATION: &str = r#"{$head,"type":"system","subtype":"turn_duration","durationMs":81995,"messageCount":43,"timestamp":"$time","uuid":"$uuid","isMeta":false$tail}"#;
pub(super) const LAST_PROMPT: &str =
    r#"{"type":"last-prompt","lastPrompt":$text,"leafUuid":$parent,"sessionId":"$session"}"#;
pub(super) const COST_STATE: &str = r#"{"type":"cost-state","sessionId":"$session","totalCostUSD":0.0436084,"totalAPIDuration":459,"totalAPIDurationWithoutRetries":443,"totalToolDuration":787,"totalLinesAdded":4,"totalLinesRemoved":1,"totalDuration":3319,"startTime":1794722293867,"modelUsage":{"$model":{"inputTokens":18,"outputTokens":244,"thinkingTokens":0,"cacheReadInputTokens":133282,"cacheCreationInputTokens":2400,"webSearchRequests":0,"costUSD":0.0436084}},"hasUnknownModelCost":false}"#;
pub(super) const MODE: &str = r#"{"type":"mode","mode":"normal","sessionId":"$session"}"#;
pub(super) const SUMMARY: &str = r#"{"type":"summary","summary":$prose60,"leafUuid":"$hash"}"#;
pub(super) const SUMMARY_CONTENT: &str = r#"[{"type":"text","text":"This session is being continued from a previous conversation that ran out of context. The summary below covers the earlier portion of the conversation."},{"type":"text","text":$prose9000}]"#;
pub(super) const SUMMARY_FLAGS: &str =
    r#","isVisibleInTranscriptOnly":true,"isCompactSummary":true"#;
pub(super) const THINKING: &str =
    r#"{"type":"thinking","thinking":$text,"signature":"$signature"}"#;
pub(super) const TOOL_USE: &str = r#"{"type":"tool_use","id":"$id","name":"$name","input":$input}"#;
pub(super) const TOOL_RESULT: &str =
    r#"[{"tool_use_id":"$id","type":"tool_result","content":$content,"is_error":$failed}]"#;
pub(super) const AGENT_INPUT: &str =
    r#"{"description":"Look around","prompt":$prose900,"subagent_type":"Explore"}"#;
pub(super) const AGENT_RESULT: &str = r#"{"status":"completed","prompt":"Look around","agentId":"a3ff56215836bd35f","content":$content,"totalDurationMs":96700,"totalTokens":47692,"totalToolUseCount":9,"usage":$usage}"#;
pub(super) const TORN: &str = r#"{"parentUuid":"c34a44df-6f54-4928-9ae7-58da62989406","isSidechain":false,"message":{"model":"$model","usage":{"input_tok"#;
/// Attachments that the client writes at the start of a session and after a compaction.
pub(super) const ATTACHED: [&str; 6] = [
    r#"{$head,"attachment":{"type":"environment","snapshot":{"workingDirectory":"/home/dev/project","isWorktree":false,"isGitRepo":true,"additionalWorkingDirectories":[],"platform":"linux","shell":"bash","osVersion":"Linux 6.8.0"}},"type":"attachment","uuid":"$uuid","timestamp":"$time","rendered":[{"content":$prose650}],"renderedRole":"system"$tail}"#,
    r#"{$head,"attachment":{"type":"agent_listing_delta","addedTypes":["claude","Explore"],"addedLines":[$prose1500],"isInitial":true},"type":"attachment","uuid":"$uuid","timestamp":"$time","rendered":[{"content":$prose1600}],"renderedRole":"system"$tail}"#,
    r#"{$head,"attachment":{"type":"skill_listing","content":$prose6100,"skillCount":13,"isInitial":true},"type":"attachment","uuid":"$uuid","timestamp":"$time","rendered":[{"content":$prose6200}],"renderedRole":"system"$tail}"#,
    HOOK_SUCCESS,
    r#"{$head,"attachment":{"type":"prompt_snapshot","systemPrompt":[$prose15000],"tools":[{"name":"Agent","description":$prose2500},{"name":"Bash","description":$prose2500},{"name":"Edit","description":$prose2500},{"name":"Read","description":$prose2500},{"name":"Write","description":$prose2500},{"name":"Grep","description":$prose2500},{"name":"Skill","description":$prose2500}],"reminderFold":false},"type":"attachment","uuid":"$uuid","timestamp":"$time"$tail}"#,
    r#"{"type":"api-request-shape","sessionId":"$session","shapeHash":"$hash","timestamp":"$time","version":"2.1.325","shape":{"system":[{"type":"text","text":$prose12000}],"tools":[{"name":"Agent","description":$prose2500},{"name":"Bash","description":$prose2500},{"name":"Edit","description":$prose2500},{"name":"Read","description":$prose2500},{"name":"Write","description":$prose2500},{"name":"Grep","description":$prose2500},{"name":"Skill","description":$prose2500}]}}"#,
];

/// A tool of the agent: templates of its call and its result.
pub(super) struct Tool {
    pub(super) name: &'static str,
    /// How many of a thousand steps use this tool.
    pub(super) weight: usize,
    pub(super) input: &'static str,
    pub(super) content: &'static str,
    pub(super) result: &'static str,
    /// Median and sigma of the lengths of `$a`, `$b` and `$c`.
    pub(super) texts: [(f64, f64); 3],
    /// Tokens that the result adds to the window, if its size in bytes does not determine them.
    pub(super) tokens: Option<f64>,
}

pub(super) const READ: Tool = Tool {
    name: "Read",
    weight: 290,
    input: r#"{"file_path":$path}"#,
    content: "$a",
    result: r#"{"type":"text","file":{"filePath":$path,"content":$a,"numLines":90,"startLine":1,"totalLines":90}}"#,
    texts: [(4_500.0, 1.3), (0.0, 0.0), (0.0, 0.0)],
    tokens: None,
};
pub(super) const GREP: Tool = Tool {
    name: "Grep",
    weight: 120,
    input: r#"{"pattern":"offset","output_mode":"content","-n":true}"#,
    content: "$a",
    result: r#"{"mode":"content","numFiles":0,"filenames":[],"content":$a,"numLines":9}"#,
    texts: [(600.0, 1.2), (0.0, 0.0), (0.0, 0.0)],
    tokens: None,
};
pub(super) const TOOLS: [Tool; 7] = [
    READ,
    GREP,
    Tool {
        name: "Edit",
        weight: 230,
        input: r#"{"replace_all":false,"file_path":$path,"old_string":$a,"new_string":$b}"#,
        content: r#""The file has been updated successfully.""#,
        result: r#"{"filePath":$path,"oldString":$a,"newString":$b,"originalFile":$c,"structuredPatch":[{"oldStart":1,"oldLines":9,"newStart":1,"newLines":12,"lines":[$a,$b]}],"userModified":false,"replaceAll":false}"#,
        texts: [(250.0, 1.0), (350.0, 1.0), (7_000.0, 1.2)],
        tokens: Some(300.0),
    },
    Tool {
        name: "Write",
        weight: 40,
        input: r#"{"file_path":$path,"content":$a}"#,
        content: r#""File created successfully.""#,
        result: r#"{"type":"create","filePath":$path,"content":$a,"structuredPatch":[],"originalFile":null,"userModified":false}"#,
        texts: [(3_000.0, 0.9), (0.0, 0.0), (0.0, 0.0)],
        tokens: Some(40.0),
    },
    Tool {
        name: "Bash",
        weight: 260,
        input: r#"{"command":"cargo test --workspace 2>&1 | tail -40","description":"Run the tests"}"#,
        content: "$a",
        result: r#"{"stdout":$a,"stderr":"","interrupted":false,"isImage":false,"noOutputExpected":false}"#,
        texts: [(500.0, 1.5), (0.0, 0.0), (0.0, 0.0)],
        tokens: None,
    },
    Tool {
        name: "Bash",
        weight: 40,
        input: r#"{"command":"cargo build","description":"Build"}"#,
        content: "$a",
        result: r#""Error: Exit code 101""#,
        texts: [(500.0, 1.5), (0.0, 0.0), (0.0, 0.0)],
        tokens: None,
    },
    Tool {
        name: "Read",
        weight: 6,
        input: r#"{"file_path":"/home/dev/project/shots/7.png"}"#,
        content: r#"[{"type":"image","source":{"type":"base64","data":"$image","media_type":"image/png"}}]"#,
        result: r#"{"type":"image","file":{"base64":"$image","type":"image/png","originalSize":90000}}"#,
        texts: [(0.0, 0.0); 3],
        tokens: Some(1_600.0),
    },
];
/// Header of a PNG of 1200 × 1000 pixels.
pub(super) const PNG: &str = "iVBORw0KGgoAAAANSUhEUgAABLAAAAPoCAYAAAAA";
