package oauth

import (
	"crypto/sha256"
	"encoding/base64"
	"errors"
	"html/template"
	"net/http"

	"github.com/gybob/aai-gateway"
)

// page is the last page of a login in the browser.
type page struct {
	Title string
	Lines []string
	Good  bool
}

const pageStyle = `body{font:1.1rem/1.5 system-ui,sans-serif;margin:0;background:#f4f5f7;color:#1c1e21}` +
	`main{max-width:34rem;margin:14vh auto 0;padding:2rem 2.5rem;background:#fff;border-radius:.6rem;border-top:.4rem solid #b3261e}` +
	`main.good{border-color:#1e7d34}h1{font-size:1.5rem;margin:0 0 .8rem}p{margin:.6rem 0;overflow-wrap:anywhere}footer{margin-top:1.6rem;color:#666;font-size:.85rem}` +
	`@media(prefers-color-scheme:dark){body{background:#16181b;color:#e8e8e8}main{background:#23262a}footer{color:#999}}`

const pageText = `<!doctype html>
<html lang="en">
<head><meta charset="utf-8"><meta name="viewport" content="width=device-width"><title>{{.Title}}</title><style>` +
	pageStyle + `</style></head>
<body><main{{if .Good}} class="good"{{end}}><h1>{{.Title}}</h1>
{{range .Lines}}<p>{{.}}</p>
{{end}}<footer>AAI Gateway, on this computer</footer></main></body>
</html>
`

// endPage returns the page with the result of the login. It contains no untrusted text but the
// host's name and the error of the intended server.
func endPage(host string, err error) page {
	if err == nil {
		return page{"You are logged in to " + host, []string{"You can close this window and go back to where you came from."},
			true}
	}
	why := "The gateway could not get a token."
	if refusal, ok := errors.AsType[*serverError](err); ok {
		why = refusal.Error() + "."
	} else if e, ok := errors.AsType[*aai.Error](err); ok {
		why = e.Message + "."
	}
	return page{"You are not logged in to " + host,
		[]string{why, "Close this window, go back to where you came from, and try again there."}, false}
}

func strayPage() page {
	return page{"This was not expected", []string{
		"This address takes the answer to one login, and this is not it. If a login is open in another window, it goes " +
			"on there.",
		"You can close this window.",
	}, false}
}

func usedPage() page {
	return page{"This answer was used already", []string{"You can close this window and go back to where you came from."},
		false}
}

// showPage writes a page that loads nothing, runs no script and is not cached.
func showPage(w http.ResponseWriter, status int, p page) {
	sum := sha256.Sum256([]byte(pageStyle))
	h := w.Header()
	h.Set("Content-Type", "text/html; charset=utf-8")
	h.Set("Content-Security-Policy", "default-src 'none'; style-src 'sha256-"+base64.StdEncoding.EncodeToString(sum[:])+
		"'; frame-ancestors 'none'; base-uri 'none'")
	h.Set("Cache-Control", "no-store")
	h.Set("Referrer-Policy", "no-referrer")
	h.Set("X-Content-Type-Options", "nosniff")
	h.Set("Connection", "close")
	w.WriteHeader(status)
	_ = template.Must(template.New("page").Parse(pageText)).Execute(w, p) // the browser may be closed
}
