package pages

import (
	"bufio"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"text/tabwriter"
	"time"

	"gotest.tools/v3/assert"
)

// TestPages does the tasks in each way. In a full run it prints the figures of each way, and those of the gateway
// beside those of playwright-mcp.
func TestPages(t *testing.T) {
	isFull := os.Getenv("AAI_PAGES") == "all"
	gateway := build(t)
	outcomes := map[string][]outcome{}
	for _, y := range ways() {
		if only := os.Getenv("AAI_PAGES_WAY"); !isFull && y.name != ways()[0].name || only != "" && only != y.name {
			continue
		}
		t.Run(y.name, func(t *testing.T) {
			w := newWorld(t, gateway)
			for _, k := range readTasks(t) {
				if only := os.Getenv("AAI_PAGES_ONLY"); !isFull && !k.isShort || only != "" && !strings.Contains(k.page+" "+k.goal, only) {
					continue
				}
				t.Run(k.page+" "+k.goal, func(t *testing.T) {
					o := y.do(t, w, &k)
					outcomes[y.name] = append(outcomes[y.name], o)
					t.Logf("right %t, %d calls, %d tokens and %d of the first look, %d ms", o.isRight, o.calls, o.tokens, o.look, o.took.Milliseconds())
					switch {
					case o.isFalseSuccess && y.look == "ax_get_tree":
						t.Errorf("the gateway says that it is done, but %s", o.fault)
					case !o.isRight && !isFull:
						t.Error(o.fault)
					case !o.isRight:
						t.Log(o.fault)
					}
				})
			}
		})
	}
	assert.Check(t, len(outcomes) != 0, "no task was done")
	fmt.Print(report(outcomes))
}

// report prints the figures of each way. Costs are those of the tasks that both ways did right.
func report(outcomes map[string][]outcome) string {
	var text strings.Builder
	table := tabwriter.NewWriter(&text, 0, 0, 2, ' ', 0)
	_, _ = fmt.Fprintln(table, "way\ttasks\tright\tfalse success\tcalls\ttokens\twith the first look\tseconds\t")
	for _, y := range ways() {
		var right, claimed, calls, tokens, looks int
		var took time.Duration
		for _, o := range outcomes[y.name] {
			calls, tokens, looks, took = calls+o.calls, tokens+o.tokens, looks+o.look, took+o.took
			if o.isRight {
				right++
			}
			if o.isFalseSuccess {
				claimed++
			}
		}
		_, _ = fmt.Fprintf(table, "%s\t%d\t%d\t%d\t%d\t%d\t%d\t%.1f\t\n", y.name, len(outcomes[y.name]), right, claimed, calls, tokens, tokens+looks, took.Seconds())
	}
	_ = table.Flush()
	for _, y := range ways() {
		if y.look == "ax_get_tree" && len(outcomes[y.name]) > 0 {
			text.WriteString(compare(outcomes[y.name], outcomes["playwright-mcp"]))
		}
	}
	return text.String()
}

// compare compares the costs of the tasks that both did right.
func compare(ours, theirs []outcome) string {
	peers := map[string]outcome{}
	for _, o := range theirs {
		peers[o.page+o.goal] = o
	}
	var both, fewerCalls, sameCalls, fewerTokens, fewerWithLook int
	var sum, peerSum outcome
	for _, o := range ours {
		peer := peers[o.page+o.goal]
		if !o.isRight || !peer.isRight {
			continue
		}
		both++
		sum.calls, sum.tokens, sum.look, sum.took = sum.calls+o.calls, sum.tokens+o.tokens, sum.look+o.look, sum.took+o.took
		peerSum.calls, peerSum.tokens, peerSum.look, peerSum.took = peerSum.calls+peer.calls, peerSum.tokens+peer.tokens, peerSum.look+peer.look, peerSum.took+peer.took
		// playwright-mcp acts by refs, so an agent must look first; the gateway acts by the names in the goal.
		if o.calls < peer.calls+1 {
			fewerCalls++
		}
		if o.calls == peer.calls {
			sameCalls++
		}
		if o.tokens < peer.tokens+peer.look {
			fewerTokens++
		}
		if o.tokens+o.look < peer.tokens+peer.look {
			fewerWithLook++
		}
	}
	if both == 0 {
		return ""
	}
	return fmt.Sprintf("%s beside playwright-mcp, %d tasks: calls %d beside %d (fewer in %d; without its look the same in %d); tokens %d beside %d (fewer in %d); "+
		"with a look of both %d (fewer in %d); %.1f s beside %.1f s\n",
		ours[0].way, both, sum.calls, peerSum.calls+both, fewerCalls, sameCalls, sum.tokens, peerSum.tokens+peerSum.look, fewerTokens,
		sum.tokens+sum.look, fewerWithLook, sum.took.Seconds(), peerSum.took.Seconds())
}

// build builds the gateway as released, but it accepts the test home's settings without confirmation.
func build(t *testing.T) string {
	t.Helper()
	if built := os.Getenv("AAI_APPS_GATEWAY"); built != "" {
		return built
	}
	program := filepath.Join(t.TempDir(), "aai-gateway")
	command := exec.CommandContext(t.Context(), "go", "build", "-trimpath", "-tags", "benchmarks", "-o", program, "github.com/gybob/aai-gateway/cmd/aai-gateway")
	command.Env = append(os.Environ(), "CGO_ENABLED=0")
	out, err := command.CombinedOutput()
	assert.NilError(t, err, out)
	return program
}

// A task is a goal in a page.
type task struct {
	page string // file
	goal string
	want map[string]any // of the page's state
	// gateway and peer are the calls of an agent with the gateway, and with playwright-mcp; debugged those with the
	// gateway by DevTools, if they are others.
	gateway, debugged, peer []call
	needsLibrary            bool // of scripts/need-widgets
	isShort                 bool // runs always
}

// A call is a call of a tool. In its arguments "@role name" is the ref in the last outline.
type call struct {
	tool string
	args map[string]any
}

// readTasks reads the tasks of all pages.
func readTasks(t *testing.T) (tasks []task) {
	t.Helper()
	files, err := filepath.Glob("testdata/tasks/*.html")
	assert.NilError(t, err)
	for _, file := range files {
		tasks = append(tasks, readPage(t, file)...)
	}
	return tasks
}

// readPage reads the tasks of a page.
func readPage(t *testing.T, file string) (tasks []task) {
	t.Helper()
	comment, page, err := splitPage(filepath.Base(file))
	assert.NilError(t, err)
	for lines := bufio.NewScanner(strings.NewReader(comment)); lines.Scan(); {
		word, rest, _ := strings.Cut(lines.Text(), " ")
		if word == "#" {
			tasks = append(tasks, task{page: filepath.Base(file), goal: rest, needsLibrary: strings.Contains(page, "/lib/")})
			continue
		}
		if word == "" {
			continue
		}
		k := &tasks[len(tasks)-1]
		switch word {
		case "short":
			k.isShort = true
		case "want":
			decode(t, file, rest, &k.want)
		case "gateway", "devtools", "peer":
			tool, args, _ := strings.Cut(rest, " ")
			c := call{tool: tool}
			decode(t, file, args, &c.args)
			switch word {
			case "gateway":
				k.gateway = append(k.gateway, c)
			case "devtools":
				k.debugged = append(k.debugged, c)
			default:
				k.peer = append(k.peer, c)
			}
		default:
			t.Fatalf("%s: %q", file, lines.Text())
		}
	}
	return tasks
}

// splitPage returns the comment at the beginning of a page, and the rest.
func splitPage(name string) (comment, page string, err error) {
	text, err := os.ReadFile(filepath.Join("testdata", "tasks", name))
	if err != nil {
		return "", "", err
	}
	comment, page, found := strings.Cut(strings.TrimPrefix(string(text), "<!--\n"), "\n-->\n")
	if !found {
		return "", "", fmt.Errorf("%s does not begin with tasks", name)
	}
	return comment, page, nil
}

func decode(t *testing.T, file, text string, into any) {
	t.Helper()
	assert.NilError(t, json.Unmarshal([]byte(text), into), "%s %s", file, text)
}

// difference returns the first wanted member that the state does not have, or "".
func (k *task) difference(state map[string]any) string {
	for name, want := range k.want {
		if w, got := fmt.Sprint(want), fmt.Sprint(state[name]); w != got {
			return fmt.Sprintf("%s is %s, expected %s", name, got, w)
		}
	}
	return ""
}

// refPattern matches an element of an outline, of the gateway or of playwright-mcp, with its ref.
func refPattern(element string) *regexp.Regexp {
	const ref = `(?: \[[^\]]*\])*? \[(?:ref=)?((?:f\d+)?e\d+)\]`
	if role, text, isText := strings.Cut(element, ": "); isText { // its text follows the ref
		return regexp.MustCompile(regexp.QuoteMeta(role) + ref + ": " + regexp.QuoteMeta(text) + "\n")
	}
	role, name, _ := strings.Cut(element, " ")
	pattern := regexp.QuoteMeta(role)
	if name != "" {
		pattern += " " + regexp.QuoteMeta(fmt.Sprintf("%q", name))
	}
	return regexp.MustCompile(pattern + ref)
}

// resolve replaces "@role name" by the ref in the outline.
func resolve(value any, outline string) (any, error) {
	switch value := value.(type) {
	case string:
		element, isRef := strings.CutPrefix(value, "@")
		if !isRef {
			return strings.ReplaceAll(value, "$FILE", "/usr/share/common-licenses/BSD"), nil
		}
		found := refPattern(element).FindStringSubmatch(outline)
		if found == nil {
			return nil, fmt.Errorf("the outline has no %s", element)
		}
		return found[1], nil
	case map[string]any:
		of := map[string]any{}
		for name, v := range value {
			r, err := resolve(v, outline)
			if err != nil {
				return nil, err
			}
			of[name] = r
		}
		return of, nil
	case []any:
		of := make([]any, len(value))
		for i, v := range value {
			r, err := resolve(v, outline)
			if err != nil {
				return nil, err
			}
			of[i] = r
		}
		return of, nil
	}
	return value, nil
}
