package web

import (
	"context"
	"net/http"
	"net/url"
	"strings"
	"time"
)

// A pageRequest is one request of a session.
type pageRequest struct {
	ctx          context.Context
	door         *Door
	session      *session
	request      *http.Request
	lang         string        // "en" or "zh"
	query        url.Values    // the parameters of the address
	form         url.Values    // of a post
	contentOnly  bool          // only the content of the page is requested
	isRefresh    bool          // a reload after an event: the journal has the first read already
	lastCall     string        // the id of the last call that was made
	terminalWait time.Duration // time for which that call waited for the person at the terminal
	next         string        // where the browser goes after an act; "": to the page again
}

// pathValue returns the value of a wildcard in the page's path, such as "call".
func (v *pageRequest) pathValue(place string) string { return v.request.PathValue(place) }

// here returns the address of the page: for a post, without the name of the act at its end.
func (v *pageRequest) here() string {
	if v.request.Method != http.MethodPost {
		return v.request.URL.RequestURI()
	}
	path := v.request.URL.EscapedPath()
	return path[:strings.LastIndex(path, "/")]
}

// queryArgs returns the parameters of the address that are not empty, as arguments of a tool.
func (v *pageRequest) queryArgs(names ...string) map[string]any {
	args := make(map[string]any, len(names))
	for _, name := range names {
		if value := v.query.Get(name); value != "" {
			args[name] = value
		}
	}
	return args
}

// setNotice sets the notice at the top of the next page.
func (v *pageRequest) setNotice(text string) { v.session.setNotice(text) }

// text returns a text of a page in the language of the request.
func (v *pageRequest) text(page, key string, args ...any) string {
	return v.door.texts.format(v.lang, page, key, args...)
}
