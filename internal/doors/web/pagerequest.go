package web

import (
	"context"
	"net/http"
	"net/url"
	"strings"
	"time"
)

// A visit is one request of somebody who has entered.
type pageRequest struct {
	ctx          context.Context
	door         *Door
	session      *session
	request      *http.Request
	lang         string        // "en" or "zh"
	query        url.Values    // the parameters of the address
	form         url.Values    // of a post
	contentOnly  bool          // of a page that is shown only the content is wanted
	isRefresh    bool          // because of news: a look that the record has already
	lastCall     string        // the id of the last call that was made
	terminalWait time.Duration // how long the person was waited for at the terminal, of it
	next         string        // where the browser goes after an act; "": to the page again
}

// pathValue is the value that stands in the page's path at a place, such as "call".
func (v *pageRequest) pathValue(place string) string { return v.request.PathValue(place) }

// here is the address of the page that is shown: of an act, that of its page.
func (v *pageRequest) here() string {
	if v.request.Method != http.MethodPost {
		return v.request.URL.RequestURI()
	}
	path := v.request.URL.EscapedPath()
	return path[:strings.LastIndex(path, "/")]
}

// queryArgs are the parameters of the address that are not empty, as arguments of a tool.
func (v *pageRequest) queryArgs(names ...string) map[string]any {
	args := make(map[string]any, len(names))
	for _, name := range names {
		if value := v.query.Get(name); value != "" {
			args[name] = value
		}
	}
	return args
}

// setNotice has the next page that is shown begin with the text.
func (v *pageRequest) setNotice(text string) { v.session.setNotice(text) }

// text is a text of a page in the visitor's language.
func (v *pageRequest) text(page, key string, args ...any) string {
	return v.door.texts.format(v.lang, page, key, args...)
}
