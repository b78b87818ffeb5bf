package web

import (
	"errors"
	"html/template"
	"os"
	"path/filepath"
	"strings"
)

// redirectPage is a page that redirects at once. Its text does not contain the address,
// which tools that operate windows could read.
const redirectPage = `<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta name="referrer" content="no-referrer">
<meta http-equiv="refresh" content="0; url=ADDRESS">
<title>AAI Gateway</title>
<p>This leads to the gateway's page. If nothing comes, open the link that the terminal shows.</p>
<p lang="zh">这里通向网关的页面。如果没有打开，请打开终端显示的链接。</p>
</html>
`

// WriteRedirectFile makes a file that leads a browser to an address with a secret. Every account of
// the computer can read the arguments of a program; only the person can read the file, which is in a
// new folder in below. The caller calls gone when the file is no longer needed.
func WriteRedirectFile(below, address string) (file string, gone func(), err error) {
	folder, err := os.MkdirTemp(below, "aai-gateway-") // 0700
	if err != nil {
		return "", nil, err
	}
	gone = func() { _ = os.RemoveAll(folder) } // without its gateway the file is useless
	file = filepath.Join(folder, "page.html")
	text := strings.Replace(redirectPage, "ADDRESS", template.HTMLEscapeString(address), 1)
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		gone()
		return "", nil, errors.Join(errors.New("the file that leads to the page cannot be written"), err)
	}
	return file, gone, nil
}
