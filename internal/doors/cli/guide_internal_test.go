package cli

import (
	"encoding/json"
	"testing"

	"gotest.tools/v3/assert"
	is "gotest.tools/v3/assert/cmp"

	"github.com/gybob/aai-gateway/internal/answer"
)

// TestGuidesAsCommands checks that a guide at a terminal shows commands.
func TestGuidesAsCommands(t *testing.T) {
	for line, want := range map[string]string{
		"Example: aai_exec({\"app\": \"a.b\", \"tool\": \"say\", \"args\": {\"word\": \"it's\"}})\n":                              "Example: aai-gateway exec a.b say '{\"word\": \"it'\\''s\"}'\n",
		"The next page: aai_exec({\"app\": \"aai\", \"tool\": \"guide\", \"args\": {\"app\": \"a.b\", \"after\": \"x y\"}})\n":    "The next page: aai-gateway guide a.b --after 'x y'\n",
		"Or: aai_exec({\"app\": \"aai\", \"tool\": \"search\", \"args\": {\"words\": \"…\", \"app\": \"a.b\"}}). The groups: a\n": "Or: aai-gateway search --app a.b …. The groups: a\n",
		"Use the aai_exec tool to run these operations.\n":                                                                        "Run them with: aai-gateway exec <app> <tool> --arg name=value\n",
		"A stranger writes aai_exec(nonsense)\n":                                                                                  "A stranger writes aai_exec(nonsense)\n",
	} {
		assert.Check(t, is.Equal(asCommands(line), want), "%q", line)
	}
	assert.Check(t, is.Equal(command(answer.PreparedCall{App: "a;b", Tool: "t", Args: json.RawMessage(`{}`)}), `aai-gateway exec 'a;b' t '{}'`))
}

// TestFlagErrorsInPlainWords checks that errors of flags do not contain the terms of a library.
func TestFlagErrorsInPlainWords(t *testing.T) {
	for given, want := range map[string]string{
		`invalid argument "x" for "--limit" flag: strconv.ParseInt: parsing "x": invalid syntax`: `invalid argument "x" for "--limit" flag: expected a whole number`,
		`invalid argument "x" for "--yes" flag: strconv.ParseBool: parsing "x": invalid syntax`:  `invalid argument "x" for "--yes" flag: expected true or false`,
		`unknown flag: --x`: `unknown flag: --x`,
	} {
		assert.Check(t, is.Equal(plainFlagError(given), want))
	}
}
