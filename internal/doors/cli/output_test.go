package cli_test

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"
	"time"
	"unicode"

	"golang.org/x/text/width"
	"gotest.tools/v3/assert"
	is "gotest.tools/v3/assert/cmp"
	"pgregory.net/rapid"

	"github.com/gybob/aai-gateway"
	"github.com/gybob/aai-gateway/internal/doors/cli"
)

// TestOutputThatCannotBeWritten checks that a command fails if its result cannot be
// written, and reports that it ran.
func TestOutputThatCannotBeWritten(t *testing.T) {
	for _, args := range [][]string{
		{"exec", "org.example.Notes", "add"},
		{"exec", "org.example.Notes", "add", "--format", "json"},
		{"apps"}, {"--version"}, {"completion", "bash"},
	} {
		t.Run(strings.Join(args, " "), func(t *testing.T) {
			var errOut bytes.Buffer
			code := cli.Run(t.Context(), newWorld().config(nil, fullDisk{}, &errOut), args)
			assert.Check(t, is.Equal(code, 1), "exit code %d, want 1", code)
			got := errOut.String()
			assert.Assert(t, is.Contains(got, "the command ran"))
			assert.Assert(t, is.Contains(got, "no space left on device"))
		})
	}
}

// TestTextOfApps checks that an app's text is unchanged in a pipe, and has no control
// characters on a terminal.
func TestTextOfApps(t *testing.T) {
	const said, shown = "red \x1b[31mtext\u202e\r\n\ttab", "red [31mtext \n\ttab"
	for _, test := range []struct {
		terminal     bool
		format, want string
	}{
		{false, "text", said + "\n"}, {false, "quiet", ""},
		{true, "text", shown + "\n"}, {true, "quiet", ""},
	} {
		var out, errOut bytes.Buffer
		cfg := newWorld().config(nil, &out, &errOut)
		cfg.Terminal.Out = test.terminal
		if code := cli.Run(t.Context(), cfg, []string{"exec", "org.example.Notes", "text", "--format", test.format}); code != 0 {
			t.Fatalf("exit code %d: %s", code, errOut.String())
		}
		assert.Check(t, is.Equal(out.String(), test.want), "%v %s", test.terminal, test.format)
	}
}

func TestLines(t *testing.T) {
	for said, want := range map[string]string{"": "", "7": "7\n", "7\n": "7\n", "\n": "\n", "a\nb": "a\nb\n"} {
		var out bytes.Buffer
		if cli.Lines(&out, said); out.String() != want {
			t.Errorf("%q: %q; expected %q", said, out.String(), want)
		}
	}
}

func TestLongLines(t *testing.T) {
	var out, errOut bytes.Buffer
	long := strings.Repeat("0123456789abcdef", 4096)
	if code := cli.Run(t.Context(), newWorld().config(nil, &out, &errOut), []string{"exec", "org.example.Notes", "long"}); code != 0 {
		t.Fatalf("exit code %d: %s", code, errOut.String())
	}
	if out.String() != long+"\n" {
		t.Errorf("64 KiB of text came out as %d bytes", out.Len())
	}
	for _, args := range [][]string{{"--arg", "title=" + long}, {`{"title":"` + long + `"}`}} {
		out.Reset()
		if code := cli.Run(t.Context(), newWorld().config(nil, &out, &errOut), append([]string{"exec", "org.example.Notes", "echo"}, args...)); code != 0 {
			t.Fatalf("exit code %d: %s", code, errOut.String())
		}
		if out.String() != `{"title":"`+long+"\"}\n" {
			t.Errorf("64 KiB of argument came back as %d bytes", out.Len())
		}
	}
	errOut.Reset()
	if code := cli.Run(t.Context(), newWorld().config(nil, &out, &errOut), []string{long}); code != 2 || errOut.Len() > 500 {
		t.Errorf("64 KiB of command: exit code %d, %d bytes of error", code, errOut.Len())
	}
}

func TestStandardInputHasALimit(t *testing.T) {
	var out, errOut bytes.Buffer
	in := strings.NewReader(`{"title":"` + strings.Repeat("x", 8<<20) + `"}`)
	code := cli.Run(t.Context(), newWorld().config(in, &out, &errOut), []string{"exec", "org.example.Notes", "echo", "-"})
	assert.Check(t, is.Equal(code, 2))
	assert.Check(t, is.Contains(errOut.String(), "standard input has more than 8 MiB"))
}

func TestNoStreams(t *testing.T) {
	cfg := newWorld().config(nil, nil, nil)
	code := cli.Run(t.Context(), cfg, []string{"apps"})
	assert.Check(t, is.Equal(code, 0), "exit code %d", code)
	code = cli.Run(t.Context(), cfg, []string{"nothing"})
	assert.Check(t, is.Equal(code, 2), "exit code %d", code)
}

// TestTableAligns compares the columns with the widths of Unicode (package width), which
// the table does not use.
func TestTableAligns(t *testing.T) {
	word := rapid.StringMatching(`[a-z言葉ｱア가Ａé]{0,12}`)
	rapid.Check(t, func(t *rapid.T) {
		rows := rapid.SliceOfN(rapid.SliceOfN(word, 2, 2), 1, 5).Draw(t, "rows")
		for i := range rows {
			rows[i] = append([]string{"x" + rows[i][0]}, "|"+rows[i][1], "|end")
		}
		columns := rapid.SampledFrom([]int{10, 20, 30, 200}).Draw(t, "columns")
		var out bytes.Buffer
		cli.Table(&out, columns, []string{"A", "|B", "|C"}, rows)
		lines := strings.Split(strings.TrimSuffix(out.String(), "\n"), "\n")
		assert.Assert(t, is.Len(lines, len(rows)+1), "%d rows make %d lines", len(rows), len(lines))
		want := bars(lines[0])
		for _, line := range lines {
			if got := bars(line); len(got) != 2 || got[0] != want[0] || got[1] != want[1] {
				t.Errorf("columns begin at %v, in the header at %v:\n%s", got, want, out.String())
			}
			if columns >= 30 && measure(line) > columns {
				t.Errorf("%d columns on a terminal of %d: %s", measure(line), columns, line)
			}
		}
	})
}

func measure(s string) int {
	total := 0
	for _, r := range s {
		total++
		if k := width.LookupRune(r).Kind(); k == width.EastAsianWide || k == width.EastAsianFullwidth {
			total++
		}
	}
	return total
}

// bars returns the columns of each "|".
func bars(line string) []int {
	var at []int
	for i, r := range line {
		if r == '|' {
			at = append(at, measure(line[:i]))
		}
	}
	return at
}

func TestTableKeepsTheFirstColumnLongest(t *testing.T) {
	var out bytes.Buffer
	cli.Table(&out, 43, []string{"A", "B", "C"}, [][]string{{"org.example.Notes", "twelve bytes", "a long description"}})
	assert.Check(t, is.Equal(out.String(), "A                  B             C\norg.example.Notes  twelve bytes  a long de…\n"))
}

func FuzzEscapeUnseen(f *testing.F) {
	for _, seed := range []string{"", "plain", "\x1b[31m", "\u202e\u009b\x7f", "\U000E0041\u2028\u00a0", "日本語 é 👍\ufe0f", "a\xffb", `\u0041"`} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, s string) {
		raw, err := json.Marshal(s)
		assert.NilError(t, err)
		escaped := cli.EscapeUnseen(string(raw))
		var before, after string
		assert.NilError(t, json.Unmarshal(raw, &before), "%q %q", raw, escaped)
		assert.NilError(t, json.Unmarshal([]byte(escaped), &after), "%q %q", raw, escaped)
		assert.Equal(t, before, after, "%q %q", raw, escaped)
		assert.Check(t, is.Equal(escaped, aai.CleanText(escaped, len(escaped))))
		assert.Check(t, !strings.ContainsFunc(escaped, unicode.IsControl), "%q is not harmless", escaped)
	})
}

func TestFormatOf(t *testing.T) {
	for args, want := range map[string]string{
		"":                              "text",
		"apps --format json":            "json",
		"--format=quiet apps":           "quiet",
		"--format json --format=text x": "text",
		"--format":                      "text",
		"--format xml":                  "text",
		"exec a b -- --format json":     "text",
	} {
		assert.Check(t, is.Equal(cli.FormatOf(strings.Fields(args)), want), "%q", args)
	}
}

func TestParseSpan(t *testing.T) {
	for text, want := range map[string]time.Duration{
		"90m": 90 * time.Minute, "1h30m": 90 * time.Minute, "12h": 12 * time.Hour,
		"1d": 24 * time.Hour, "30d": 720 * time.Hour, "2w": 336 * time.Hour, "8191w": 8191 * 168 * time.Hour,
	} {
		got, ok := cli.ParseSpan(text)
		assert.Assert(t, ok, "%s %v", text, ok)
		assert.Equal(t, got, want, "%s %v", text, ok)
	}
	for _, text := range []string{"", "d", "0d", "-1d", "1.5d", "8192w", "soon", "0s", "-1h", "1 d"} {
		got, ok := cli.ParseSpan(text)
		assert.Check(t, !ok, "%q is taken for %v", text, got)
	}
}
