//! `plimsoll config`

mod schema;

use serde_json::{Value, json};

use crate::env::TestEnv;

#[test]
fn every_value_is_shown_with_where_it_comes_from() {
    let env = TestEnv::new()
        .with("PLIMSOLL_CONTEXT_CEILING_PCT", "45")
        .with("CLAUDE_AUTOCOMPACT_PCT_OVERRIDE", "70");
    env.user_config("lines:\n  warn: 75\nguard:\n  mode: strict\n");
    env.project_config("quiet: true\nlines: {save: 65}\n");
    env.client_settings(&json!({"autoCompactWindow": 150_000}));
    insta::assert_snapshot!(env.plimsoll("config show"), @"
    --- stdout
    In force in $TEST/project
    lines.ceiling                       45          $PLIMSOLL_CONTEXT_CEILING_PCT
    lines.checkpoint                    60          default
    lines.save                          65          $TEST/project/.plimsoll.yaml:2
    lines.warn                          75          ~/.config/plimsoll/config.yaml:2
    lines.restart                       85          default
    checkpoint.on_line                  hook        default
    board.coordination_file             false       default
    guard.mode                          strict      ~/.config/plimsoll/config.yaml:4
    guard.ceiling_tokens                none        default
    guard.recovery_skills               []          default
    quiet                               true        $TEST/project/.plimsoll.yaml:1
    window                              none        default
    warn_command                        none        default
    restore.mode                        auto        default
    restore.budget                      2000        default
    reviewer.command                    []          default
    reviewer.second_command             []          default
    reviewer.interval_seconds           300         default
    reviewer.most_per_day               100         default
    run.max_sessions                    50          default
    run.max_tokens                      none        default
    run.max_minutes                     none        default
    batch.budget                        none        default
    batch.command                       []          default
    batch.session                       batch       default
    batch.at_once                       1           default
    batch.retries                       2           default
    batch.max_failures                  1           default
    batch.max_sessions                  none        default
    batch.max_tokens                    none        default
    batch.max_minutes                   none        default
    models                              {}          default
    auto_context.enabled                true        default
    auto_context.poll_interval_seconds  60          default
    auto_context.hooks.git_commit       true        default
    auto_context.hooks.test_result      true        default
    team.database_url                   none        default
    team.share                          [readings]  default
    team.projects                       [/]         default
    team.person                         none        default

    Client claude-code
    auto compact                        true        default
    can compact                         true        default
    compact percent                     70          $CLAUDE_AUTOCOMPACT_PCT_OVERRIDE
    compact window                      150000      ~/.claude/settings.json
    disable long context                false       default
    [exit 0]
    ");
}

#[test]
fn what_does_not_count_is_shown_too() {
    let env = TestEnv::new().with("DEV_TEAM_CONTEXT_WINDOW", "big");
    env.user_config("lines: {save: 90, restart: 80, wran: 75}\n");
    env.project_config("window: 5\n");
    let ran = env.plimsoll("config show");
    let ignored = ran.stdout.split_once("Ignored\n").unwrap().1;
    insta::assert_snapshot!(ignored, @"
    ~/.config/plimsoll/config.yaml:1:32
      `lines.wran` is no key we know; did you mean `lines.warn`?
    ~/.config/plimsoll/config.yaml:1:9
      the save line (90) must lie below the restart line (80)
    $TEST/project/.plimsoll.yaml:1:1
      `window` in a project's config is ignored: set it in your own
    `DEV_TEAM_CONTEXT_WINDOW` changes nothing: it takes a whole number of tokens above 0
    ");
    assert!(
        ran.stdout.contains("lines.save                          70          default"),
        "{ran}"
    );
}

/// What `config show --json` says of a key.
fn key(env: &TestEnv, name: &str) -> Value {
    let ran = env.plimsoll("config show --json");
    let json: Value = serde_json::from_str(&ran.stdout).unwrap();
    let keys = json["keys"].as_array().unwrap().clone();
    keys.into_iter().find(|key| key["key"] == name).unwrap()
}

#[test]
fn scripts_learn_the_same() {
    let env = TestEnv::new().with("PLIMSOLL_CONTEXT_WINDOW", "1000000");
    env.user_config(
        "models: {house: {window: 400000}}\nauto_context: {thresholds: {warning: 65}}\n",
    );
    let window = key(&env, "window");
    assert_eq!((&window["value"], &window["from"]), (&json!(1_000_000), &json!("environment")));
    assert_eq!(window["variable"], "PLIMSOLL_CONTEXT_WINDOW");
    let models = key(&env, "models");
    assert_eq!(models["value"], json!({"house": {"window": 400_000}}));
    assert_eq!((&models["from"], &models["line"]), (&json!("file"), &json!(1)));
    let save = key(&env, "lines.save");
    assert_eq!((&save["value"], &save["line"]), (&json!(65.0), &json!(2)), "by its older name");
    let quiet = key(&env, "quiet");
    assert_eq!((&quiet["value"], &quiet["from"]), (&json!(false), &json!("default")));
}

#[test]
fn the_variable_that_decides_is_named() {
    let of = |variables: &[(&str, &str)], name: &str| {
        let with = |env: TestEnv, (name, value): &(&str, &str)| env.with(name, value);
        let key = key(&variables.iter().fold(TestEnv::new(), with), name);
        (key["value"].clone(), key["variable"].as_str().map(str::to_owned))
    };
    let named = |value: Value, name: &str| (value, Some(name.to_owned()));
    let strict = ("PLIMSOLL_CONTEXT_STRICT", "on");
    assert_eq!(of(&[strict], "guard.mode"), named(json!("strict"), strict.0));
    let off = ("DEV_TEAM_CONTEXT_CEILING", "off");
    assert_eq!(of(&[strict, off], "guard.mode"), named(json!("off"), off.0));
    let bad = ("PLIMSOLL_CONTEXT_WINDOW", "big");
    let old = ("DEV_TEAM_CONTEXT_WINDOW", "64000");
    assert_eq!(of(&[bad, old], "window"), named(json!(64_000), old.0));
    let silent = ("PLIMSOLL", "off");
    assert_eq!(of(&[silent], "auto_context.enabled"), named(json!(false), silent.0));
}

#[test]
fn a_sound_config_is_ok() {
    let env = TestEnv::new();
    insta::assert_snapshot!(env.plimsoll("config check"), @"
    --- stdout
    ok: there is no config; all is at its default
    [exit 0]
    ");
    env.user_config("lines: {warn: 75}\n");
    env.project_config("quiet: true\n");
    insta::assert_snapshot!(env.plimsoll("config check"), @"
    --- stdout
    ok: $TEST/home/.config/plimsoll/config.yaml
    ok: $TEST/project/.plimsoll.yaml
    [exit 0]
    ");
}

#[test]
fn every_mistake_is_named_with_its_place_and_what_would_be_right() {
    let env = TestEnv::new();
    env.user_config("lines:\n  wran: 60\n  warn: hunter2\nguard: {mode: fierce}\n");
    env.project_config("window: 1000000\n");
    insta::assert_snapshot!(env.plimsoll("config check"), @"
    --- stdout
    $TEST/home/.config/plimsoll/config.yaml:2:3: `lines.wran` is no key we know; did you mean `lines.warn`?
    $TEST/home/.config/plimsoll/config.yaml:3:3: `lines.warn` is ignored: it takes a percentage above 0 and at most 100
    $TEST/home/.config/plimsoll/config.yaml:4:9: `guard.mode` is ignored: it takes `warn`, `strict` or `off`
    $TEST/project/.plimsoll.yaml:1:1: `window` in a project's config is ignored: set it in your own
    --- stderr
    error: 4 mistakes in the config
    hint: `plimsoll config default` explains every key
    [exit 1]
    ");
    let ran = env.plimsoll("config check --json");
    let json: Value = serde_json::from_str(&ran.stdout).unwrap();
    assert_eq!((&json[1]["line"], &json[1]["column"]), (&json!(3), &json!(3)));
    assert_eq!(ran.status.code(), Some(1));
}

#[test]
fn a_config_that_cannot_be_read_is_a_mistake() {
    let env = TestEnv::new();
    for (config, why) in [
        (
            &b"a: ["[..],
            "config.yaml:1:4: the file cannot be read: this is not the YAML of a config",
        ),
        (b"\xff\xfe\xff", "config.yaml: the file cannot be read: it is not text in UTF-8"),
    ] {
        env.write("home/.config/plimsoll/config.yaml", config);
        let ran = env.plimsoll("config check");
        assert!(ran.stdout.contains(why) && ran.status.code() == Some(1), "{ran}");
    }
    let secret = env.write("secret", "hunter2");
    std::os::unix::fs::symlink(&secret, env.path("project/.plimsoll.yaml")).unwrap();
    let ran = env.plimsoll("config check");
    assert!(ran.stdout.contains(".plimsoll.yaml: the file cannot be read"), "{ran}");
    assert!(!ran.stdout.contains("hunter2"), "{ran}");
}

#[test]
fn a_named_file_is_checked_as_whose_it_is() {
    let env = TestEnv::new();
    let text = "window: 5\n";
    let own = env.write("dotfiles/plimsoll.yaml", text);
    let of_project = env.write("other/.plimsoll.yaml", text);
    let check = |path: &std::path::Path| env.plimsoll(&format!("config check {}", path.display()));
    assert_eq!(check(&own).status.code(), Some(0));
    assert_eq!(check(&of_project).status.code(), Some(1));
    insta::assert_snapshot!(env.plimsoll("config check nope.yaml"), @"
    --- stderr
    error: could not check `nope.yaml`: there is no such file
    hint: `plimsoll config path` says where the config files are
    [exit 1]
    ");
}

#[test]
fn the_status_suggests_what_was_meant() {
    let env = TestEnv::new();
    env.user_config("lines: {wran: 60}\n");
    env.session("s").fill(10_000);
    let ran = env.plimsoll("status");
    assert!(ran.stderr.contains("did you mean `lines.warn`?"), "{ran}");
}

#[test]
fn the_paths_are_told_and_which_of_them_are_missing() {
    let env = TestEnv::new().with("PLIMSOLL_DATA_DIR", "/nowhere/data");
    env.user_config("");
    insta::assert_snapshot!(env.plimsoll("config path"), @"
    --- stdout
    user config     $TEST/home/.config/plimsoll/config.yaml
    project config  $TEST/project/.plimsoll.yaml  (missing)
    data            /nowhere/data  (missing)
    [exit 0]
    ");
    let json: Value = serde_json::from_str(&env.plimsoll("config path --json").stdout).unwrap();
    assert_eq!(json["data"], json!({"path": "/nowhere/data", "exists": false}));
}

#[test]
fn the_default_config_is_sound_and_changes_nothing() {
    let env = TestEnv::new();
    let before = env.plimsoll("config show").stdout;
    let text = env.plimsoll("config default").stdout;
    assert!(text.contains("  # warn: 80\n"), "{text}");
    env.user_config(&text);
    assert!(env.plimsoll("config check").status.success());
    assert_eq!(env.plimsoll("config show").stdout, before);
}
