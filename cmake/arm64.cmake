# Toolchain for arm64 Linux on a Debian machine of another kind: g++-aarch64-linux-gnu compiles, qemu-user-static runs.
set(CMAKE_SYSTEM_NAME Linux)
set(CMAKE_SYSTEM_PROCESSOR aarch64)
set(CMAKE_CXX_COMPILER aarch64-linux-gnu-g++)
set(CMAKE_CROSSCOMPILING_EMULATOR qemu-aarch64-static)
# Highway then asks the compiler, and not the kernel's header, which this one has differently.
set(CMAKE_CXX_FLAGS_INIT -DTOOLCHAIN_MISS_SYS_AUXV_H)
