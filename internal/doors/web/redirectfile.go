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

// WriteRedirectFile writes an HTML file that redirects a browser to address, which holds a secret. A
// browser opened with the address itself would show it to every account, by its arguments. The file
// is in a new folder within the folder below, readable by the person alone; gone removes both.
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
