//! The project, prompts and model answers of the sample session.

use std::fs;
use std::path::Path;

use plimsoll_testbed::{ModelAnswer, Script};
use serde_json::json;

/// Model with a 200,000-token window, which the client compacts at 167,000.
pub(crate) const MODEL: &str = "claude-opus-4-6";

pub(crate) const PROMPTS: [&str; 2] = [
    "The total of a manifest fails when a row has no weight. Find out why and mend it.",
    "The dues have the same fault. Mend them too, and give both scripts a test.",
];

/// Writes the project files that the session works on.
pub(crate) fn write_project(project: &Path) {
    for (name, text) in [("manifest.csv", MANIFEST), ("total.sh", TOTAL), ("dues.sh", DUES)] {
        fs::write(project.join(name), text).expect("the project should be writable");
    }
}

const MANIFEST: &str = "ship,cargo,weight\nAlma,timber,120\nBrig,wool,\nCora,iron,310\n";

const TOTAL: &str = r#"# Adds up the weights of a manifest.
total=0
while IFS=, read -r ship cargo weight; do
    [ "$ship" = ship ] && continue
    total=$((total + $weight))
done < "$1"
echo "$total tonnes"
"#;

const DUES: &str = r#"# What each ship pays: two crowns a tonne.
while IFS=, read -r ship cargo weight; do
    [ "$ship" = ship ] && continue
    echo "$ship $((2 * $weight)) crowns"
done < "$1"
"#;

/// Returns the model's answers. The token counts are those of a session on a larger project; a real
/// service would count far fewer for this text.
pub(crate) fn script() -> Script {
    Script::new()
        .main([
            bash("ls").prompt_tokens(22_000),
            read("total.sh").prompt_tokens(27_000),
            bash("cat manifest.csv").prompt_tokens(32_000),
            bash("sh total.sh manifest.csv 2>&1 || true").prompt_tokens(50_000),
            edit("total.sh", "+ $weight", "+ ${weight:-0}").prompt_tokens(54_000),
            bash("sh total.sh manifest.csv").prompt_tokens(59_000),
            agent().prompt_tokens(84_500),
            ModelAnswer::text(
                "A missing weight now counts as nothing. `dues.sh` may fail likewise.",
            )
            .prompt_tokens(89_000),
            read("dues.sh").prompt_tokens(93_000),
            bash("sh dues.sh manifest.csv 2>&1 || true").prompt_tokens(97_000),
            edit("dues.sh", "* $weight", "* ${weight:-0}").prompt_tokens(101_000),
            bash("sh dues.sh manifest.csv").prompt_tokens(120_500),
            bash("printf '430 tonnes\\n' > total.expected").prompt_tokens(124_000),
            bash("sh total.sh manifest.csv | diff - total.expected").prompt_tokens(128_000),
            bash("sh dues.sh manifest.csv > dues.expected").prompt_tokens(132_000),
            bash("cat dues.expected").prompt_tokens(140_500),
            bash("sh dues.sh manifest.csv | diff - dues.expected").prompt_tokens(145_000),
            bash("wc -l *.sh *.expected").prompt_tokens(153_000),
            bash("grep -n weight *.sh").prompt_tokens(157_000),
            read("total.sh").prompt_tokens(161_000),
            read("dues.sh").prompt_tokens(168_500),
            bash("ls").prompt_tokens(27_000),
            ModelAnswer::text("Both scripts are mended and tested.").prompt_tokens(28_000),
        ])
        .subagent("other scripts", [ModelAnswer::text("dues.sh multiplies the same column.")])
        .summaries([ModelAnswer::summary(SUMMARY)])
}

const SUMMARY: &str = "The user asked to mend `total.sh` and `dues.sh`, which failed on rows without \
    a weight, and to give both a test. Both now use `${weight:-0}`; `total.expected` and \
    `dues.expected` hold what they should print. Left to do: a last look at the files.";

fn bash(command: &str) -> ModelAnswer {
    ModelAnswer::tool("Bash", json!({ "command": command, "description": "Look at the project" }))
}

fn read(name: &str) -> ModelAnswer {
    ModelAnswer::tool("Read", json!({ "file_path": name }))
}

fn edit(name: &str, old: &str, new: &str) -> ModelAnswer {
    ModelAnswer::tool("Edit", json!({ "file_path": name, "old_string": old, "new_string": new }))
}

fn agent() -> ModelAnswer {
    ModelAnswer::tool(
        "Agent",
        json!({
            "description": "Find similar scripts",
            "prompt": "Are there other scripts that calculate with a column that may be empty?",
            "subagent_type": "Explore",
            "run_in_background": false,
        }),
    )
}
