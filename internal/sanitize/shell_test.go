package sanitize_test

import (
	"testing"

	"github.com/gybob/aai-gateway/internal/sanitize"
)

// TestShellWords: quoted words pass a shell unchanged.
func TestShellWords(t *testing.T) {
	for word, want := range map[string]string{"/a/b-c": "/a/b-c", "": "''", "a b": "'a b'", "it's": `'it'\''s'`, "$HOME": "'$HOME'", "Grüße": "'Grüße'",
		"a\x1b[2Jb'\\": `$'a\033[2Jb\047\134'`, "\u202e1": `$'\342\200\2561'`, "\xff": `$'\377'`} {
		if got := sanitize.ShellJoin(word); got != want {
			t.Errorf("%q is %s, want %s", word, got, want)
		}
	}
}
