// exp, log, pow and their kin on one double, the same bits on every machine. The C library's differ in the last bit
// from version to version; these are built from operations that IEEE 754 rounds correctly
// (docs/design/010-portable-numbers.md).
//
// Special values are those of the C standard. Accuracy: lines of the table in tests/simd/portable_test.cpp.
#pragma once

namespace nalm::portable {

double exp(double x);
double expm1(double x);
double log(double x);
double log1p(double x);
double log10(double x);
double pow(double x, double y);
double sin(double x);
double cos(double x);
double asin(double x);
double acos(double x);
double tanh(double x);
double hypot(double x, double y);  // overflows where a square does

}  // namespace nalm::portable
