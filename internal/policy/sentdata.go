package policy

import (
	"cmp"
	"fmt"
	"net"
	"net/url"
	"strings"

	"github.com/gybob/aai-gateway"
	"github.com/gybob/aai-gateway/internal/netguard"
	"github.com/gybob/aai-gateway/internal/sanitize"
)

// sentData names the host of the model that gets pictures, and the files that the call sends.
func (w words) sentData(r *aai.Request) (lines, error) {
	text, err := w.sentPictures(r)
	if err != nil {
		return nil, err
	}
	files, err := w.sentFiles(r)
	return append(text, files...), err
}

// sentFiles names each file and kept result that the call sends, complete, and where it goes.
func (w words) sentFiles(r *aai.Request) (lines, error) {
	var text lines
	assessed, size := r.Assessment(), 0
	host := assessed.FilesGoTo
	if u, err := url.Parse(host); err == nil && u.Host != "" {
		host = u.Host
	}
	for _, file := range assessed.ReadsFiles {
		format := w.sendsFile
		if call, kept := strings.CutPrefix(file, "result:"); kept {
			format, file = w.sendsResult, call
		}
		if size += len(file); size > maxShown || len(host) > maxHost+len(":65535") {
			return nil, cannotBeShown(r, fmt.Sprintf("the names of its files have more than the %d bytes that a person can be asked about", maxShown))
		}
		text.addOwn(format, sanitize.Quote(sanitize.EscapeInvisible(file), maxShown), ascii(cmp.Or(host, r.App.ID)))
	}
	return text, nil
}

// sentPictures names the host, complete, to which the call sends pictures.
func (w words) sentPictures(r *aai.Request) (lines, error) {
	var text lines
	host := r.Assessment().PicturesGoTo
	name, _, err := net.SplitHostPort(host)
	if err != nil {
		name = host
	}
	switch {
	case host == "":
	case len(host) > maxHost+len(":65535"):
		return nil, noHostError(host)
	case netguard.IsLoopback(name):
		text.addOwn(w.goesToSelf, ascii(host))
	default:
		text.addOwn(w.goesTo, ascii(host))
	}
	return text, nil
}
