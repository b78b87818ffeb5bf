package apps

import (
	"os"
	"slices"
	"strings"
)

// Expectations of acts.

func togglesMark(n node) expectation {
	return func(_, after observation) bool { return after.marked(n, !n.on()) }
}

func comesOn(n node) expectation {
	return func(_, after observation) bool { return after.marked(n, true) }
}

// marked reports whether the element is on, or off. Qt renumbers rows occasionally; then the name
// identifies the element.
func (s observation) marked(n node, on bool) bool {
	if now, there := s.nodes[n.ref]; there {
		return now.on() == on
	}
	for _, now := range s.nodes {
		if now.role == n.role && now.name == n.name {
			return now.on() == on
		}
	}
	return false
}

func has(r ref, text string) expectation {
	return func(_, after observation) bool { return strings.TrimSuffix(after.nodes[r].text, "\n") == text }
}

func counts(r ref, value float64) expectation {
	return func(_, after observation) bool { return after.nodes[r].value == value }
}

// opens expects a window with the part in its title.
func opens(part string) expectation {
	return func(before, after observation) bool { return titled(after, part) > titled(before, part) }
}

// closes expects that a window with the part in its title has closed.
func closes(part string) expectation {
	return func(before, after observation) bool { return titled(after, part) < titled(before, part) }
}

func titled(s observation, part string) (n int) {
	for _, title := range s.windows {
		if strings.Contains(title, part) {
			n++
		}
	}
	return n
}

// shows expects an element of this role with the text as its name or content; without a role, any
// element of that name but a button.
func shows(role, text string) expectation {
	return func(_, after observation) bool {
		for _, n := range after.nodes {
			if role == "" && n.role != "push button" && n.name == text {
				return true
			}
			if n.role == role && (strings.Contains(n.name, text) || strings.Contains(n.text, text)) {
				return true
			}
		}
		return false
	}
}

// keeps expects the text in a file; a plain text file has nothing else in it.
func keeps(file, text string) expectation {
	return func(observation, observation) bool {
		b, err := os.ReadFile(file)
		if strings.HasSuffix(file, ".txt") {
			return err == nil && strings.ReplaceAll(string(b), "\n", "") == text
		}
		return err == nil && strings.Contains(string(b), text)
	}
}

// onDisk expects that the file exists, or not.
func onDisk(file string, there bool) expectation {
	return func(observation, observation) bool {
		_, err := os.Stat(file)
		return (err == nil) == there
	}
}

// eachOf expects all of them.
func eachOf(wants ...expectation) expectation {
	return func(before, after observation) bool {
		return !slices.ContainsFunc(wants, func(w expectation) bool { return !w(before, after) })
	}
}

// togglesNamed expects that the element with the role and the name was toggled.
func togglesNamed(role, name string) expectation {
	return func(before, after observation) bool {
		for r, n := range before.nodes {
			if now, there := after.nodes[r]; there && n.role == role && n.name == name && now.on() != n.on() {
				return true
			}
		}
		return false
	}
}

// seen expects an element with the name.
func seen(role, name string) expectation {
	return func(before, after observation) bool {
		for _, n := range after.nodes {
			if n.role == role && n.name == name && n.is(showing) {
				return true
			}
		}
		return false
	}
}
