#include "simd/dispatch.hpp"
#include "words.hpp"

#include <gtest/gtest.h>

#include <cstdlib>
#include <optional>
#include <string>
#include <string_view>

namespace nalm::simd::dispatch_test {
namespace {

// NALM_SIMD set, or unset, until the end of a test.
class Environment {
 public:
  explicit Environment(const char* value) {
    if (const char* old = std::getenv("NALM_SIMD")) before_ = old;
    set(value);
  }
  ~Environment() { set(before_ ? before_->c_str() : nullptr); }
  Environment(const Environment&) = delete;
  Environment& operator=(const Environment&) = delete;

 private:
  static void set(const char* value) {
    if (value) {
      setenv("NALM_SIMD", value, 1);
    } else {
      unsetenv("NALM_SIMD");
    }
  }
  std::optional<std::string> before_;
};

const Target& widest_supported() {
  for (const Target& target : targets()) {
    if (target.supported) return target;
  }
  return targets().back();
}

TEST(Targets, AreListedWidestFirst) {
  ASSERT_FALSE(targets().empty());
  for (std::size_t k = 0; k < targets().size(); ++k) {
    EXPECT_EQ(targets()[k].index, static_cast<int>(k));
    EXPECT_FALSE(targets()[k].name.empty());
    if (k > 0) {
      EXPECT_GT(targets()[k - 1].float_lanes, targets()[k].float_lanes) << targets()[k].name;
    }
  }
}

TEST(Targets, EndWithScalarWhichEveryMachineSupports) {
  const Target& last = targets().back();
  EXPECT_EQ(last.name, "scalar");
  EXPECT_TRUE(last.supported);
  EXPECT_EQ(last.lanes<float>(), 1);
  EXPECT_EQ(last.lanes<double>(), 1);
}

TEST(Targets, HaveHalfAsManyLanesOfDouble) {
  for (const Target& target : targets()) {
    EXPECT_EQ(target.lanes<float>(), target.float_lanes);
    if (target.float_lanes > 1) {
      EXPECT_EQ(2 * target.lanes<double>(), target.float_lanes) << target.name;
    }
  }
}

TEST(FindTarget, FindsEverySupportedTargetByName) {
  for (const Target& target : targets()) {
    const Result<const Target*> found = find_target(target.name);
    ASSERT_EQ(found.ok(), target.supported) << target.name;
    if (found) {
      EXPECT_EQ(*found, &target);
    }
  }
}

TEST(FindTarget, NamesTheSupportedTargetsInItsError) {
  const Result<const Target*> found = find_target("avx1024");
  ASSERT_FALSE(found.ok());
  EXPECT_TRUE(contains(found.error().message, "\"avx1024\"")) << found.error().message;
  const std::string known = found.error().message.substr(found.error().message.find("it has"));
  for (const Target& target : targets()) {
    EXPECT_EQ(contains(known, target.name), target.supported) << known << " " << target.name;
  }
}

TEST(FindTarget, IsExactAboutNames) {
  for (const std::string_view name : {"", "Scalar", "scalar ", "scala"}) EXPECT_FALSE(find_target(name).ok()) << name;
}

TEST(ChooseTarget, TakesTheWidestSupportedTargetUnlessToldOtherwise) {
  for (const char* value : {static_cast<const char*>(nullptr), ""}) {
    const Environment environment(value);
    const Result<const Target*> chosen = choose_target();
    ASSERT_TRUE(chosen.ok());
    EXPECT_EQ(*chosen, &widest_supported());
  }
}

TEST(ChooseTarget, ObeysTheEnvironment) {
  for (const Target& target : targets()) {
    const Environment environment(std::string(target.name).c_str());
    const Result<const Target*> chosen = choose_target();
    ASSERT_EQ(chosen.ok(), target.supported) << target.name;
    if (chosen) {
      EXPECT_EQ(*chosen, &target);
    }
  }
}

TEST(ChooseTarget, BlamesTheVariableForAWrongName) {
  const Environment environment("turbo");
  const Result<const Target*> chosen = choose_target();
  ASSERT_FALSE(chosen.ok());
  EXPECT_TRUE(chosen.error().message.starts_with("NALM_SIMD: \"turbo\"")) << chosen.error().message;
  EXPECT_TRUE(contains(chosen.error().message, "scalar")) << chosen.error().message;
}

TEST(ActiveTarget, IsSupportedAndStaysTheSame) {
  const Target& active = active_target();
  EXPECT_TRUE(active.supported);
  const Environment environment("turbo");
  EXPECT_EQ(&active_target(), &active);
}

}  // namespace
}  // namespace nalm::simd::dispatch_test
