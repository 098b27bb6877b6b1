#include "http/headers.h"

#include <doctest/doctest.h>

#include "http/date.h"
#include "http/response.h"
#include "http/url.h"

namespace http = millstream::http;

TEST_CASE("headers keep order, compare without case and can be changed") {
  http::Headers headers;
  headers.add("A", "1");
  headers.add("b", "2");
  headers.add("a", "3");
  CHECK(headers.get("a") == "1");
  CHECK(headers.count("A") == 2);
  headers.set("a", "4");
  CHECK(headers.count("A") == 1);
  CHECK(headers.name(0) == "A");
  CHECK(headers.value(0) == "4");
  headers.set("c", "5");
  headers.remove("B");
  CHECK(headers.size() == 2);
  CHECK(headers.get("none").empty());

  std::string text = "x: y";
  http::Headers borrowed;
  borrowed.add_range({0, 1, 3, 1});
  borrowed.borrow_from(text.data());
  CHECK(borrowed.get("X") == "y");
  borrowed.add("z", "w");
  text = "????";
  CHECK(borrowed.get("X") == "y");
  CHECK(borrowed.get("z") == "w");
}

TEST_CASE("content types") {
  auto type = http::parse_content_type("text/xml; charset=\"utf-8\" ; boundary=a;b");
  CHECK(type.media_type == "text/xml");
  CHECK(type.charset == "utf-8");
  CHECK(type.boundary == "a");
  CHECK(http::parse_content_type("application/json").charset.empty());
  CHECK(http::parse_content_type("a/b;x=\"c;charset=no\";CHARSET=latin1").charset == "latin1");
  CHECK(http::parse_content_type("a/b;charset=\"open").charset == "\"open");
  CHECK(http::list_has_token("a, Close ,b", "close"));
  CHECK_FALSE(http::list_has_token("closed", "close"));
}

TEST_CASE("URLs and redirects") {
  auto url = http::parse_url("http://user:pw@Example.com:8080/a/b?c#frag");
  REQUIRE(url.ok());
  CHECK(url.value().host == "Example.com");
  CHECK(url.value().port == 8080);
  CHECK(url.value().target == "/a/b?c");
  CHECK(url.value().authority() == "Example.com:8080");
  CHECK(http::parse_url("http://h").take_value().target == "/");
  CHECK(http::parse_url("http://h?q").take_value().target == "/?q");
  CHECK(http::parse_url("https://h").take_value().port == 443);
  CHECK(http::parse_url("http://[::1]:81/").take_value().host == "::1");
  CHECK(http::parse_url("http://[::1]:81/").take_value().authority() == "[::1]:81");
  for (const char* bad :
       {"h/x", "ftp://h/", "http://", "http:///x", "http://h:0/", "http://h:65536/", "http://h:x/",
        "http://h/a b", "http://h/\r\nX: y", "http://[::1/"}) {
    CAPTURE(bad);
    CHECK_FALSE(http::parse_url(bad).ok());
  }
  auto redirect = [&](const char* location) {
    return http::resolve_redirect(url.value(), location).take_value();
  };
  CHECK(redirect("/x").target == "/x");
  CHECK(redirect("x?y").target == "/a/x?y");
  CHECK(redirect("?z").target == "/a/b?z");
  CHECK(redirect("http://o:1/p").authority() == "o:1");
  CHECK(redirect("//o/p").host == "o");
}

TEST_CASE("percent-encoding and query strings") {
  CHECK(http::percent_decode("a%20b%zz%4") == "a b%zz%4");
  CHECK(http::percent_decode("a+b", true) == "a b");
  CHECK(http::percent_encode("a b/\xc3\xa4~") == "a%20b%2F%C3%A4~");
  auto query = http::parse_query("a=1&b=x%3Dy+z&&c&d=");
  REQUIRE(query.size() == 4);
  CHECK(query[1].second == "x=y z");
  CHECK(query[2].first == "c");
  CHECK(query[3].second.empty());
  std::string many;
  for (int i = 0; i < 1500; ++i) many += "a&";
  CHECK(http::parse_query(many).size() == http::kQueryParametersMax);
}

TEST_CASE("dates") {
  char text[http::kDateBytes];
  http::format_date(784111777, text);
  CHECK(std::string_view(text, sizeof text) == "Sun, 06 Nov 1994 08:49:37 GMT");
  http::format_date(951782400, text);
  CHECK(std::string_view(text, sizeof text) == "Tue, 29 Feb 2000 00:00:00 GMT");
}

TEST_CASE("response heads are framed by the server and refuse injection") {
  http::Response response;
  response.headers.add("Content-Length", "99");
  response.headers.add("Transfer-Encoding", "chunked");
  response.headers.add("X-Ok", "v");
  response.headers.add("X-Bad", "v\r\nInjected: yes");
  response.headers.add("Bad Name", "v");
  response.body = "hello";
  std::string out;
  bool has_body = false;
  int dropped = http::write_response_head(response, {1, true, false, "D"}, out, &has_body);
  CHECK(dropped == 2);
  CHECK(has_body);
  CHECK(out == "HTTP/1.1 200 OK\r\nDate: D\r\nX-Ok: v\r\nContent-Length: 5\r\n\r\n");
  response.status = 204;
  response.headers.clear();
  out.clear();
  http::write_response_head(response, {0, true, false, ""}, out, &has_body);
  CHECK_FALSE(has_body);
  CHECK(out == "HTTP/1.0 204 No Content\r\nConnection: keep-alive\r\n\r\n");
}
