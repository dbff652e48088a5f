/* A bcryptprimitives.dll for Wine 8, which lacks it: random bytes for Rust's standard library. Only tests use it. */
int __stdcall SystemFunction036(void *bytes, unsigned long len);
__declspec(dllexport) int __stdcall ProcessPrng(void *bytes, unsigned long long len) {
    return SystemFunction036(bytes, (unsigned long)len);
}
