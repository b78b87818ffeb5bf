package web

import (
	"errors"
	"html/template"
	"os"
	"path/filepath"
	"strings"
)

// redirectPage is a page that leads on at once. What it says is without the address, which tools on
// windows could read there.
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

// WriteRedirectFile makes a file that leads a browser to an address with a secret. Every account of the
// computer can read with which arguments a program was started; the file, in a folder of its own
// below the one that is given, only the person can. Gone is called when nobody needs it any more.
func WriteRedirectFile(below, address string) (file string, gone func(), err error) {
	folder, err := os.MkdirTemp(below, "aai-gateway-") // 0700
	if err != nil {
		return "", nil, err
	}
	gone = func() { _ = os.RemoveAll(folder) } // without its gateway it leads nowhere
	file = filepath.Join(folder, "page.html")
	text := strings.Replace(redirectPage, "ADDRESS", template.HTMLEscapeString(address), 1)
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		gone()
		return "", nil, errors.Join(errors.New("the file that leads to the page cannot be written"), err)
	}
	return file, gone, nil
}
