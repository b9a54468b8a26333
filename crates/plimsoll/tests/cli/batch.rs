//! `plimsoll batch`

mod plan;
mod run;
