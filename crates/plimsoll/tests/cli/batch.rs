//! `plimsoll batch`

mod plan;
