//! Rate limit for write requests.

use std::sync::{Mutex, PoisonError};
use std::time::Instant;

/// Token bucket that refills at a steady rate and caps at `BURST` seconds' worth.
#[derive(Debug)]
pub(crate) struct TokenBucket {
    per_second: f64,
    left: Mutex<(f64, Instant)>,
}

/// Bucket capacity, in seconds' worth of writes.
const BURST: f64 = 2.0;

impl TokenBucket {
    pub(crate) fn new(per_second: u32) -> Self {
        let per_second = f64::from(per_second.max(1));
        Self { per_second, left: Mutex::new((per_second * BURST, Instant::now())) }
    }

    /// Takes one token. `Err` is the number of seconds until the next one is available.
    pub(crate) fn take(&self) -> Result<(), u64> {
        self.take_at(Instant::now())
    }

    fn take_at(&self, now: Instant) -> Result<(), u64> {
        let mut left = self.left.lock().unwrap_or_else(PoisonError::into_inner);
        let since = now.saturating_duration_since(left.1).as_secs_f64();
        let full = self.per_second * BURST;
        *left = ((left.0 + since * self.per_second).min(full), now);
        if left.0 < 1.0 {
            return Err(((1.0 - left.0) / self.per_second).ceil().max(1.0) as u64);
        }
        left.0 -= 1.0;
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    #[test]
    fn tokens_refill_over_time() {
        let bucket = TokenBucket::new(3);
        let now = Instant::now();
        let taken = (0..10).filter(|_| bucket.take_at(now).is_ok()).count();
        assert_eq!(taken, 6, "two seconds' worth");
        assert_eq!(bucket.take_at(now), Err(1));
        assert_eq!(bucket.take_at(now + Duration::from_secs(1)), Ok(()));
    }
}
