//! `plimsoll batch`

mod plan;
mod run;
mod status;
