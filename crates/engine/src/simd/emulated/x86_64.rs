//! Emulates the instructions of AVX-512 and GFNI that kernels use. They have the names of `std::arch`.
//!
//! The definitions are those of the Intel 64 and IA-32 Architectures Software Developer's Manual, volume 2. All other
//! instructions are those of the machine.

pub(super) use std::arch::x86_64::*;

/// 512 bits, as eight lanes of 64 bits.
#[allow(non_camel_case_types, reason = "so it is called")]
#[derive(Clone, Copy)]
#[repr(transparent)]
pub(super) struct __m512i([u64; 8]);

impl __m512i {
    fn from_bytes(bytes: [u8; 64]) -> Self {
        let (lanes, _) = bytes.as_chunks();
        Self(std::array::from_fn(|n| u64::from_le_bytes(lanes[n])))
    }

    fn bytes(self) -> [u8; 64] {
        std::array::from_fn(|n| self.0[n / 8].to_le_bytes()[n % 8])
    }

    fn each(self, of: impl Fn(u64) -> u64) -> Self {
        Self(self.0.map(of))
    }

    fn with(self, other: Self, of: impl Fn(u64, u64) -> u64) -> Self {
        Self(std::array::from_fn(|n| of(self.0[n], other.0[n])))
    }
}

pub(super) unsafe fn _mm512_loadu_si512(from: *const __m512i) -> __m512i {
    // SAFETY: the caller guarantees that `from` may be read for 64 bytes.
    unsafe { from.read_unaligned() }
}

pub(super) unsafe fn _mm512_storeu_si512(to: *mut __m512i, a: __m512i) {
    // SAFETY: the caller guarantees that `to` may be written for 64 bytes.
    unsafe { to.write_unaligned(a) }
}

pub(super) fn _mm512_set1_epi8(a: i8) -> __m512i {
    __m512i::from_bytes([a.cast_unsigned(); 64])
}

pub(super) fn _mm512_set1_epi64(a: i64) -> __m512i {
    __m512i([a.cast_unsigned(); 8])
}

pub(super) fn _mm512_setzero_si512() -> __m512i {
    __m512i([0; 8])
}

pub(super) fn _mm512_and_si512(a: __m512i, b: __m512i) -> __m512i {
    a.with(b, |a, b| a & b)
}

pub(super) fn _mm512_or_si512(a: __m512i, b: __m512i) -> __m512i {
    a.with(b, |a, b| a | b)
}

pub(super) fn _mm512_xor_si512(a: __m512i, b: __m512i) -> __m512i {
    a.with(b, |a, b| a ^ b)
}

pub(super) fn _mm512_add_epi64(a: __m512i, b: __m512i) -> __m512i {
    a.with(b, u64::wrapping_add)
}

pub(super) fn _mm512_slli_epi64<const BY: u32>(a: __m512i) -> __m512i {
    a.each(|a| a.checked_shl(BY).unwrap_or(0))
}

pub(super) fn _mm512_srli_epi64<const BY: u32>(a: __m512i) -> __m512i {
    a.each(|a| a.checked_shr(BY).unwrap_or(0))
}

/// Shifts each lane of `a` to the left, and fills it with the upper bits of `b`.
pub(super) fn _mm512_shldi_epi64<const BY: i32>(a: __m512i, b: __m512i) -> __m512i {
    let by = BY.cast_unsigned() % 64;
    a.with(b, |a, b| a << by | b.checked_shr(64 - by).unwrap_or(0))
}

pub(super) fn _mm512_popcnt_epi64(a: __m512i) -> __m512i {
    a.each(|a| a.count_ones().into())
}

pub(super) fn _mm512_min_epu8(a: __m512i, b: __m512i) -> __m512i {
    let (a, b) = (a.bytes(), b.bytes());
    __m512i::from_bytes(std::array::from_fn(|n| a[n].min(b[n])))
}

pub(super) fn _mm512_sub_epi8(a: __m512i, b: __m512i) -> __m512i {
    let (a, b) = (a.bytes(), b.bytes());
    __m512i::from_bytes(std::array::from_fn(|n| a[n].wrapping_sub(b[n])))
}

pub(super) fn _mm512_cmple_epu8_mask(a: __m512i, b: __m512i) -> u64 {
    let (a, b) = (a.bytes(), b.bytes());
    (0..64).fold(0, |mask, n| mask | u64::from(a[n] <= b[n]) << n)
}

pub(super) fn _mm512_cmpeq_epi8_mask(a: __m512i, b: __m512i) -> u64 {
    let (a, b) = (a.bytes(), b.bytes());
    (0..64).fold(0, |mask, n| mask | u64::from(a[n] == b[n]) << n)
}

pub(super) fn _mm512_testn_epi8_mask(a: __m512i, b: __m512i) -> u64 {
    let (a, b) = (a.bytes(), b.bytes());
    (0..64).fold(0, |mask, n| mask | u64::from(a[n] & b[n] == 0) << n)
}

pub(super) fn _mm512_test_epi64_mask(a: __m512i, b: __m512i) -> u8 {
    (0..8).fold(0, |mask, n| mask | u8::from(a.0[n] & b.0[n] != 0) << n)
}

/// For each byte of `places`, the byte at the index in its low seven bits, among the 64 bytes of `a` and then the 64 of
/// `b`.
pub(super) fn _mm512_permutex2var_epi8(a: __m512i, places: __m512i, b: __m512i) -> __m512i {
    permuted(u64::MAX, a, places, b)
}

/// The same, with zeros for the bytes that are not in `mask`.
pub(super) fn _mm512_maskz_permutex2var_epi8(mask: u64, a: __m512i, places: __m512i, b: __m512i) -> __m512i {
    permuted(mask, a, places, b)
}

fn permuted(mask: u64, a: __m512i, places: __m512i, b: __m512i) -> __m512i {
    let (both, places) = ([a.bytes(), b.bytes()], places.bytes());
    let byte = |n: usize| both[usize::from(places[n] >> 6 & 1)][usize::from(places[n] & 63)];
    __m512i::from_bytes(std::array::from_fn(|n| if mask >> n & 1 == 1 { byte(n) } else { 0 }))
}

/// Two of the four 128-bit blocks of `a`, then two of `b`. Two bits of `PLACES` select each block.
pub(super) fn _mm512_shuffle_i64x2<const PLACES: i32>(a: __m512i, b: __m512i) -> __m512i {
    let place = |n: usize| (PLACES.cast_unsigned() >> (2 * n) & 3) as usize;
    let from = |n: usize| if n < 2 { a } else { b };
    __m512i(std::array::from_fn(|n| from(n / 2).0[2 * place(n / 2) + n % 2]))
}

/// Multiplies each byte of `x` with the matrix of the same eight bytes and adds the bits of `PLUS`, all modulo 2. The
/// rows of a matrix are in reverse order.
fn affine<const N: usize, const PLUS: i32>(x: [u64; N], matrices: [u64; N]) -> [u64; N] {
    let product = |x: u8, rows: [u8; 8]| {
        let is_set = |n: usize| ((rows[7 - n] & x).count_ones() + (PLUS.cast_unsigned() >> n & 1)) % 2 == 1;
        (0..8).fold(0, |byte, n| byte | u8::from(is_set(n)) << n)
    };
    std::array::from_fn(|n| {
        u64::from_le_bytes(x[n].to_le_bytes().map(|x| product(x, matrices[n].to_le_bytes())))
    })
}

pub(super) fn _mm512_gf2p8affine_epi64_epi8<const PLUS: i32>(x: __m512i, matrices: __m512i) -> __m512i {
    __m512i(affine::<8, PLUS>(x.0, matrices.0))
}

pub(super) fn _mm256_gf2p8affine_epi64_epi8<const PLUS: i32>(x: __m256i, matrices: __m256i) -> __m256i {
    // SAFETY: both types have 32 bytes, and any bits are valid in them.
    unsafe {
        let [x, matrices] = [x, matrices].map(|vector| std::mem::transmute::<__m256i, [u64; 4]>(vector));
        std::mem::transmute::<[u64; 4], __m256i>(affine::<4, PLUS>(x, matrices))
    }
}
