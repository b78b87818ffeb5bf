package testkit

import (
	"context"
	"fmt"
	"html"
	"io"
	"net/http"
	"net/http/cookiejar"
	"net/url"
	"regexp"
	"strings"
)

// A BrowserUser simulates a person at a browser: it follows redirects, fills in the forms of the pages of an
// authorization server, and consents.
type BrowserUser struct {
	Client *http.Client
	Code   string // entered if a page asks for a code
}

// NewBrowserUser returns a BrowserUser without cookies.
func NewBrowserUser() *BrowserUser {
	jar, _ := cookiejar.New(nil) // never fails
	p := &BrowserUser{}
	p.Client = &http.Client{Jar: jar, CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	return p
}

var (
	formPattern  = regexp.MustCompile(`(?s)<form[^>]*action="([^"]*)"[^>]*>(.*?)</form>`)
	inputPattern = regexp.MustCompile(`(?s)<input[^>]*>`)
	namePattern  = regexp.MustCompile(`name="([^"]*)"`)
	valuePattern = regexp.MustCompile(`value="([^"]*)"`)
)

// Visit opens the address, follows redirects, submits the first form of each page, and returns the last page, which
// has none. It fails after 20 requests.
func (p *BrowserUser) Visit(ctx context.Context, address string) (status int, page string, err error) {
	method, form := http.MethodGet, url.Values(nil)
	for range 20 {
		u, err := url.Parse(address)
		if err != nil {
			return 0, "", err
		}
		r, err := http.NewRequestWithContext(ctx, method, address, strings.NewReader(form.Encode()))
		if err != nil {
			return 0, "", err
		}
		if method == http.MethodPost {
			r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
		}
		response, err := p.Client.Do(r)
		if err != nil {
			return 0, "", err
		}
		b, err := io.ReadAll(response.Body)
		_ = response.Body.Close()
		if err != nil {
			return 0, "", err
		}
		page = string(b)
		if to := response.Header.Get("Location"); to != "" {
			next, err := u.Parse(to)
			if err != nil {
				return 0, "", err
			}
			method, form, address = http.MethodGet, nil, next.String()
			continue
		}
		found := formPattern.FindStringSubmatch(page)
		if found == nil {
			return response.StatusCode, page, nil
		}
		next, err := u.Parse(html.UnescapeString(found[1]))
		if err != nil {
			return 0, "", err
		}
		method, form, address = http.MethodPost, p.fill(found[2]), next.String()
	}
	return 0, page, fmt.Errorf("the pages never end")
}

func (p *BrowserUser) fill(inputs string) url.Values {
	form := url.Values{}
	for _, input := range inputPattern.FindAllString(inputs, -1) {
		name := namePattern.FindStringSubmatch(input)
		if name == nil {
			continue
		}
		value := ""
		if given := valuePattern.FindStringSubmatch(input); given != nil {
			value = html.UnescapeString(given[1])
		}
		switch {
		case name[1] == "login":
			value = "somebody"
		case name[1] == "password":
			value = "a password"
		case name[1] == "user_code" && value == "":
			value = p.Code
		}
		form.Set(name[1], value)
	}
	return form
}
