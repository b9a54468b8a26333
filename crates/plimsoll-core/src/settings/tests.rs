use super::config::{AutoContextConfig, LinesConfig, ThresholdsConfig};
use super::*;

fn lines(save: f64, restart: f64) -> Config {
    let lines = LinesConfig {
        save: Percent::new(save),
        restart: Percent::new(restart),
        ..LinesConfig::default()
    };
    Config { lines, ..Config::default() }
}

#[test]
fn a_share_of_a_window_is_reached_exactly() {
    assert_eq!(Percent::whole(80).of(200_000), 160_000);
    assert_eq!(Percent::whole(80).of(199_999), 160_000);
    assert_eq!(Percent::new(79.95).map(|p| p.of(200_000)), Some(159_900));
    for bad in [0.0, -1.0, 100.1, f64::NAN, f64::INFINITY] {
        assert_eq!(Percent::new(bad), None);
    }
}

fn resolved(configs: &[&Config]) -> (Settings, Vec<Complaint>) {
    let mut settings = Settings::default();
    let complaints = configs.iter().flat_map(|config| settings.take(config)).collect();
    (settings, complaints)
}

#[test]
fn a_later_config_changes_what_it_names_and_nothing_else() {
    let user = Config { window: NonZero::new(64_000), quiet: Some(true), ..lines(50.0, 80.0) };
    let project = Config { quiet: Some(false), ..lines(60.0, 90.0) };
    let (settings, complaints) = resolved(&[&user, &project]);
    assert_eq!((settings.window, settings.quiet), (Some(64_000), false));
    assert_eq!(settings.lines.restart, Percent::whole(90));
    assert_eq!(complaints, []);
}

#[test]
fn lines_that_cannot_hold_are_named_and_left() {
    let (settings, complaints) = resolved(&[&lines(90.0, 80.0)]);
    assert_eq!(settings, Settings::default());
    let [Complaint { keys, why }] = &complaints[..] else { panic!("{complaints:?}") };
    assert_eq!(why, "the save line (90) must lie below the restart line (80)");
    assert!(keys.contains(&"lines.warn"), "{keys:?}");
}

#[test]
fn the_older_names_of_the_lines_are_understood_but_not_beside_other_values() {
    let thresholds =
        ThresholdsConfig { warning: Some(Percent::whole(65)), critical: Some(Percent::whole(85)) };
    let auto_context =
        AutoContextConfig { enabled: Some(false), thresholds, ..AutoContextConfig::default() };
    let alias = Config { auto_context, ..Config::default() };
    let (settings, complaints) = resolved(&[&alias]);
    assert!(!settings.enabled && complaints.is_empty());
    assert_eq!(settings.lines.save, Percent::whole(65));
    let both = Config { lines: lines(60.0, 85.0).lines, ..alias };
    let (settings, complaints) = resolved(&[&both]);
    assert_eq!((settings.lines.save, complaints.len()), (Percent::whole(70), 1));
}

#[test]
fn the_environment_wins() {
    let strict = Overrides { strict: Some(true), ..Overrides::default() };
    assert_eq!(Settings::default().overridden(&strict).guard, GuardMode::Strict);
    let off = Overrides { guard_off: true, ..strict };
    assert_eq!(Settings::default().overridden(&off).guard, GuardMode::Off);
    let pct = Overrides { ceiling: Percent::new(55.0), ..Overrides::default() };
    assert_eq!(Settings::default().overridden(&pct).lines.ceiling, Percent::whole(55));
}
