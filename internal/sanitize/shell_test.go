package sanitize_test

import (
	"testing"

	"gotest.tools/v3/assert"
	is "gotest.tools/v3/assert/cmp"

	"github.com/gybob/aai-gateway/internal/sanitize"
)

// TestShellWords: quoted words pass a shell unchanged.
func TestShellWords(t *testing.T) {
	for word, want := range map[string]string{"/a/b-c": "/a/b-c", "": "''", "a b": "'a b'", "it's": `'it'\''s'`, "$HOME": "'$HOME'", "Grüße": "'Grüße'",
		"a\x1b[2Jb'\\": `$'a\033[2Jb\047\134'`, "\u202e1": `$'\342\200\2561'`, "\xff": `$'\377'`} {
		assert.Check(t, is.Equal(sanitize.ShellJoin(word), want), "%q", word)
	}
}
