#include "report/page.hpp"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "page_data.hpp"

namespace nalm::page_test {
namespace {

using nlohmann::json;

// A name may be anything, also what stands in the shell for something else.
TEST(Page, TakesNoTextForAMark) {
  if (!has_plotting_library()) GTEST_SKIP() << "built without the plotting library";
  const std::string marks = "/*NALM_DATA*/ NALM_TITLE /*NALM_STYLE*/ /*NALM_LIBRARY*/ /*NALM_SCRIPT*/";
  const Result<std::string> page = make_page(marks, assets::page_comparison, json{{"x", marks}}.dump());
  ASSERT_TRUE(page.ok());
  EXPECT_NE(page->find("<title>" + marks + "</title>"), page->npos);
  EXPECT_EQ(json::parse(data_text(*page))["x"], marks);
}

TEST(Page, LetsNothingIn) {
  if (!has_plotting_library()) GTEST_SKIP() << "built without the plotting library";
  const Result<std::string> page = make_page("title", assets::page_report, "{}");
  ASSERT_TRUE(page.ok());
  for (const char* rule : {"default-src 'none'", "base-uri 'none'", "form-action 'none'"})
    EXPECT_NE(page->find(rule), page->npos) << rule;
  EXPECT_EQ(page->find("unsafe-eval"), page->npos);
}

}  // namespace
}  // namespace nalm::page_test
