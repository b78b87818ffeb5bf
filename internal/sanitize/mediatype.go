package sanitize

import (
	"mime"
	"strings"
	"unicode"
)

// IsMediaType reports whether the text is one media type, which a header can hold.
func IsMediaType(media string) bool {
	_, _, err := mime.ParseMediaType(media)
	return err == nil && strings.Contains(media, "/") && !strings.ContainsFunc(media, unicode.IsControl)
}
