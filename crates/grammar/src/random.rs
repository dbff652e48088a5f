//! Pseudo-random numbers, the same on every machine, for unit tests and for the built-in sample of `urlsift bench`.

/// A generator of numbers from a seed (splitmix64).
pub struct Random(u64);

impl Random {
    /// A generator with this seed. Every number is a valid seed.
    pub fn new(seed: u64) -> Self {
        Self(seed)
    }

    /// The next number, from the whole range of 64 bits.
    pub fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mixed = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }

    /// The next number below `n`, which is not 0.
    pub fn below(&mut self, n: usize) -> usize {
        let below = (u128::from(self.next()) * n as u128) >> 64;
        usize::try_from(below).expect("it is below a usize")
    }
}
