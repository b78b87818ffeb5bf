package pages

import (
	"bufio"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"gotest.tools/v3/assert"
)

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
