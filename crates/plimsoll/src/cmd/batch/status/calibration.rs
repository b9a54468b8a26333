//! `plimsoll batch status --calibration`: what past work says of the estimates.

use std::io::Write;

use plimsoll_engine::world::World;
use plimsoll_runner::batch::calibration::{Calibration, FactorTest, KindCalibration};
use plimsoll_runner::calibration;
use plimsoll_store::Store;
use serde::Serialize;

use crate::past::counted;
use crate::ui::Ui;

pub(super) fn run(world: &World, ui: &Ui, store: &mut Store, json: bool) -> anyhow::Result<()> {
    let progress = |done, of| ui.progress("reading transcripts", done, of);
    let learned = calibration::calibrate(world, store, progress)?;
    match json {
        true => ui.print_json(&View::of(&learned)),
        false => print(ui, &learned),
    }
}

fn print(ui: &Ui, learned: &Calibration) -> anyhow::Result<()> {
    let mut out = ui.out();
    if learned.kinds.is_empty() {
        writeln!(out, "There is no past work to learn from yet: the formula is used as it is.")?;
        return Ok(out.flush()?);
    }
    let head = "KIND       CASES  FACTOR  FORMULA OFF  WITH IT";
    writeln!(out, "{}", ui.dim(head))?;
    for fit in &learned.kinds {
        let KindCalibration { kind, cases, test: trial } = fit;
        let kind = kind.word();
        match trial {
            None => {
                let lacking = counted(fit.missing_cases() as u64, "more case", "more cases");
                writeln!(out, "{kind:<9}  {cases:>5}  {:>6}  {lacking} needed", "-")?;
            }
            Some(trial) => {
                let FactorTest {
                    factor,
                    formula_error: formula_off,
                    calibrated_error: calibrated_off,
                    ..
                } = trial;
                let verdict = match trial.is_better() {
                    true => ui.green("used"),
                    false => "not used: the formula is as near".to_owned(),
                };
                let offs = format!("{:>11}  {:>7}", times(*formula_off), times(*calibrated_off));
                writeln!(out, "{kind:<9}  {cases:>5}  {factor:>6.2}  {offs}  {verdict}")?;
            }
        }
    }
    writeln!(
        out,
        "\nOff is how many times too large or too small an estimate is, in the median, of the newest third\n\
         of the cases; the factor is made from the older ones."
    )?;
    Ok(out.flush()?)
}

fn times(off: f64) -> String {
    format!("×{off:.2}")
}

#[derive(Serialize)]
struct View {
    kinds: Vec<KindView>,
}

#[derive(Serialize)]
struct KindView {
    kind: &'static str,
    cases: usize,
    /// How many cases are lacking until a factor can be tried.
    lacking: usize,
    factor: Option<f64>,
    held_back: Option<usize>,
    formula_off: Option<f64>,
    calibrated_off: Option<f64>,
    used: bool,
}

impl View {
    fn of(learned: &Calibration) -> Self {
        let kind = |fit: &KindCalibration| KindView {
            kind: fit.kind.word(),
            cases: fit.cases,
            lacking: fit.missing_cases(),
            factor: fit.test.map(|trial| trial.factor),
            held_back: fit.test.map(|trial| trial.held_back),
            formula_off: fit.test.map(|trial| trial.formula_error),
            calibrated_off: fit.test.map(|trial| trial.calibrated_error),
            used: learned.factor(fit.kind).is_some(),
        };
        Self { kinds: learned.kinds.iter().map(kind).collect() }
    }
}
