package workflow

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/gybob/aai-gateway"
	"github.com/gybob/aai-gateway/internal/automation/recorded"
	"github.com/gybob/aai-gateway/internal/files/atomicfile"
)

// rename gives steps and parameters of a stored workflow or a recording other names, also where steps refer to them.
func (l *Library) rename(ctx context.Context, call *aai.Call) (*aai.Result, error) {
	name, _ := call.Args["name"].(string)
	path, err := l.path(name)
	if err != nil {
		return nil, err
	}
	if l.isRunning(name) {
		return nil, notRenamed("the recording still runs", "Stop it first.")
	}
	names, err := newNamesOf(call)
	if err != nil {
		return nil, err
	}
	seen, _ := call.Args["seen"].(string)
	err = atomicfile.Update(ctx, path, atomicfile.ReadLimits{Size: maxBytes}, func(old []byte) ([]byte, error) {
		switch {
		case old == nil:
			return nil, notRenamed("there is no such file", "Load the list again.")
		case digestOf(old) != seen:
			return nil, notRenamed("the file has changed meanwhile", "Load the page again, and repeat it.")
		}
		renamed, err := names.renamed(old, name)
		if err != nil {
			return nil, notRenamed(describeInvalid(err), "Give each step and each parameter a name of its own: letters, digits and _.")
		}
		return renamed, nil
	})
	if err != nil {
		return nil, err
	}
	return &aai.Result{Text: "Saved in " + path + "."}, nil
}

func notRenamed(problem, hint string) error {
	e := aai.Errorf(aai.InvalidParams, "nothing was saved: %s", problem)
	e.Delivery, e.Hint = aai.NotDelivered, hint
	return e
}

// newNames are the new names of steps, by number, and of parameters, by name.
type newNames struct {
	steps  map[int]string
	params map[string]string
}

func newNamesOf(call *aai.Call) (n newNames, err error) {
	n = newNames{map[int]string{}, map[string]string{}}
	steps, _ := call.Args["steps"].(map[string]any)
	for number, value := range steps {
		i, err := strconv.Atoi(number)
		if err != nil {
			return n, notRenamed(fmt.Sprintf("steps: %q is no number of a step", aai.CleanLabel(number, 20)), "")
		}
		n.steps[i], _ = value.(string)
	}
	params, _ := call.Args["params"].(map[string]any)
	for old, value := range params {
		if n.params[old], _ = value.(string); !isValueName(n.params[old]) {
			return n, notRenamed(fmt.Sprintf("%q is no name of a parameter", aai.CleanLabel(n.params[old], 60)), "Use letters, digits and _, a letter first.")
		}
	}
	return n, nil
}

// renamed returns the content of a file with the new names. It is valid.
func (n newNames) renamed(source []byte, name string) ([]byte, error) {
	d, err := read(source, strings.TrimSuffix(name, recordingSuffix))
	if err != nil {
		return nil, err
	}
	var changed []byte
	if recorded.IsRecording(source) {
		changed, err = n.renamedRecording(source)
	} else if err = n.renameIn(d); err == nil {
		changed, err = json.MarshalIndent(d.Source, "", "  ")
		changed = append(changed, '\n')
	}
	if err == nil {
		_, err = read(changed, name)
	}
	return changed, err
}

func (n newNames) renamedRecording(source []byte) ([]byte, error) {
	h, steps, err := recorded.Read(source)
	if err != nil {
		return nil, err
	}
	params := recorded.Params(steps)
	for i := range steps {
		if name, given := n.steps[i+1]; given {
			steps[i].Name = name
		}
		if name, given := n.params[params[i]]; given {
			if slices.ContainsFunc(steps, func(s recorded.Step) bool { return s.Param == name }) {
				return nil, fmt.Errorf("two parameters have the name %s", name)
			}
			steps[i].Param = name
		}
	}
	return recorded.Write(h, steps)
}

// renameIn gives the steps and parameters of a document their new names.
func (n newNames) renameIn(d *Document) error {
	refs := map[string]string{}
	for i, value := range d.Source["steps"].([]any) { //nolint:forcetypeassert // the document is valid
		name, given := n.steps[i+1]
		members, _ := value.(map[string]any)
		was, _ := members["name"].(string)
		if !given || name == was {
			continue
		}
		members["name"] = name
		if name == "" {
			delete(members, "name")
			name = fmt.Sprintf("step_%d", i+1)
		}
		if was != "" {
			refs[was] = name
		}
	}
	if described, _ := d.Source[paramsName].(map[string]any); described != nil {
		properties, _ := described["properties"].(map[string]any)
		renamed := map[string]any{}
		for old, property := range properties {
			name := old
			if given, is := n.params[old]; is {
				name = given
			}
			if _, taken := renamed[name]; taken {
				return fmt.Errorf("two parameters have the name %s", name)
			}
			renamed[name] = property
		}
		required, _ := described["required"].([]any)
		for i, old := range required {
			if name, given := n.params[fmt.Sprint(old)]; given {
				required[i] = name
			}
		}
		if properties != nil {
			described["properties"] = renamed
		}
	}
	steps := d.Source["steps"]
	d.Source["steps"] = renameRefs(steps, func(path []string) {
		if name, is := n.params[path[min(1, len(path)-1)]]; is && len(path) > 1 && path[0] == paramsName {
			path[1] = name
		} else if name, is := refs[path[0]]; is {
			path[0] = name
		}
	})
	return nil
}

// renameRefs returns a value with other names in the references of its texts.
func renameRefs(value any, rename func(path []string)) any {
	switch v := value.(type) {
	case string:
		return renameInText(v, rename)
	case []any:
		for i := range v {
			v[i] = renameRefs(v[i], rename)
		}
	case map[string]any:
		for _, name := range slices.Collect(maps.Keys(v)) {
			v[name] = renameRefs(v[name], rename)
		}
	}
	return value
}

// renameInText returns a text with other names in its references.
func renameInText(s string, rename func(path []string)) string {
	var b strings.Builder
	for {
		before, after, found := strings.Cut(s, openMark)
		b.WriteString(before)
		if !found {
			return b.String()
		}
		b.WriteString(openMark)
		if rest, escaped := strings.CutPrefix(after, openMark); escaped {
			b.WriteString(openMark)
			s = rest
			continue
		}
		inner, rest, ended := strings.Cut(after, closeMark)
		if !ended {
			b.WriteString(after)
			return b.String()
		}
		path := strings.Split(strings.TrimSpace(inner), ".")
		rename(path)
		b.WriteString(strings.Join(path, ".") + closeMark)
		s = rest
	}
}
