package web_test

import (
	"os"
	"regexp"
	"strings"
	"testing"

	"gotest.tools/v3/assert"
)

// TestTheStyleSaysEachThingOnce checks that no two rules for the same screens repeat a declaration of a
// selector.
func TestTheStyleSaysEachThingOnce(t *testing.T) {
	b, err := os.ReadFile("static/style.css")
	assert.NilError(t, err)
	said, media := make(map[string]string), ""
	for line := range strings.Lines(string(b)) {
		line = strings.TrimSpace(line)
		if strings.HasPrefix(line, "@media") {
			media, line, _ = strings.Cut(strings.TrimSuffix(line, "}"), "{")
		}
		if line == "}" {
			media = ""
		}
		rule := regexp.MustCompile(`^([^{}]+) \{ (.*) \}`).FindStringSubmatch(strings.TrimSpace(line))
		if rule == nil {
			continue
		}
		for selector := range strings.SplitSeq(rule[1], ", ") {
			for saying := range strings.SplitSeq(rule[2], ";") {
				property, _, is := strings.Cut(strings.TrimSpace(saying), ":")
				key := media + selector + " " + property
				if !is {
					continue
				}
				if first, again := said[key]; again {
					t.Errorf("%s: said of %q in %q and in %q", property, selector, first, line)
				}
				said[key] = line
			}
		}
	}
	assert.Assert(t, len(said) >= 100, "only %d sayings were read", len(said))
}
