package cli

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/gybob/aai-gateway"
	"github.com/gybob/aai-gateway/internal/schema/jsontree"
)

// maxArgBytes is how much JSON is read from standard input. The gateway takes
// less than that in one call.
const maxArgBytes = 8 << 20

// readObject reads the JSON object of a command line, if there is one.
func (r *run) readObject(cmd *cobra.Command, operand []string) (map[string]any, error) {
	if len(operand) == 0 {
		return nil, nil
	}
	text, where := operand[0], "the last operand"
	if text == "-" {
		where = "standard input"
		raw, err := readAll(cmd.Context(), io.LimitReader(r.cfg.In, maxArgBytes+1))
		if err != nil {
			return nil, fmt.Errorf("standard input cannot be read: %w", err)
		}
		if len(raw) > maxArgBytes {
			return nil, usage(cmd, "standard input holds more than %d MiB", maxArgBytes>>20)
		}
		text = string(raw)
	}
	value, err := parseJSON(text)
	if err != nil {
		return nil, usage(cmd, "%s is not JSON: %v", where, err)
	}
	object, ok := value.(map[string]any)
	if !ok {
		return nil, usage(cmd, "%s: expected a JSON object with the tool's arguments", where)
	}
	return object, nil
}

// readAll is io.ReadAll that stops waiting when ctx ends.
func readAll(ctx context.Context, from io.Reader) ([]byte, error) {
	type reading struct {
		raw []byte
		err error
	}
	read := make(chan reading, 1)
	go func() {
		raw, err := io.ReadAll(from)
		read <- reading{raw, err}
	}()
	select {
	case <-ctx.Done():
		return nil, ctx.Err()
	case got := <-read:
		return got.raw, got.err
	}
}

// parseJSON reads exactly one JSON value. Numbers keep all their digits.
func parseJSON(text string) (any, error) {
	decoder := json.NewDecoder(strings.NewReader(text))
	decoder.UseNumber()
	var value any
	if err := decoder.Decode(&value); err != nil {
		if errors.Is(err, io.EOF) {
			err = errors.New("there is nothing")
		}
		return nil, err
	}
	if _, err := decoder.Token(); !errors.Is(err, io.EOF) {
		return nil, errors.New("there is more than one value")
	}
	return value, nil
}

// addPairs adds the values of --arg to an object.
func addPairs(cmd *cobra.Command, object map[string]any, pairs []string, types map[string][]string) (map[string]any, error) {
	all := make(map[string]any, len(object)+len(pairs))
	maps.Copy(all, object)
	for _, pair := range pairs {
		name, text, ok := strings.Cut(pair, "=")
		name, raw := strings.CutSuffix(name, ":")
		if !ok || name == "" {
			return nil, usage(cmd, "--arg %q: expected name=value or name:=json", aai.CleanLabel(pair, 60))
		}
		if _, twice := all[name]; twice {
			return nil, usage(cmd, "the argument %q is given twice", aai.CleanLabel(name, 60))
		}
		if !raw {
			all[name] = parseTyped(text, types[name])
			continue
		}
		value, err := parseJSON(text)
		if err != nil {
			return nil, usage(cmd, "--arg %q is not JSON: %v", aai.CleanLabel(name, 60), err)
		}
		all[name] = value
	}
	return all, nil
}

// parseTyped reads a value as one of the types that its parameter may have. One that
// may be a string is a string; and so is what is none of the types, for the
// tool's own check to refuse by name.
func parseTyped(text string, types []string) any {
	if len(types) == 0 || slices.Contains(types, "string") {
		return text
	}
	value, err := parseJSON(text)
	if err != nil {
		return text
	}
	return value
}

// parameterTypes returns the types that the schema of a tool's parameters names
// for each of them. A schema that says it in another way says nothing here.
func (r *run) parameterTypes(ctx context.Context, app, tool string) (map[string][]string, error) {
	gateway, err := r.gateway()
	if err != nil {
		return nil, err
	}
	source := r.parametersOf(ctx, gateway.Catalog, app, tool)
	if source == nil {
		return nil, nil
	}
	params, err := nodeOf(source)
	if err != nil {
		return nil, err
	}
	types := make(map[string][]string)
	for property := range params.Member("properties").Items() {
		types[property.Name] = typesOf(property)
	}
	return types, nil
}

// parametersOf is the schema of a tool's parameters, or nil. What a site says of its app is
// asked for by a call of its own, which is on record.
func (r *run) parametersOf(ctx context.Context, catalog aai.Catalog, app, tool string) json.RawMessage {
	stop := r.progress("waiting for the list of apps")
	found := findTool(ctx, catalog, app, tool)
	stop()
	switch {
	case found != nil:
		return found.Params.Source
	case !strings.Contains(app, "/"):
		return nil
	}
	result, err := r.callBuiltin(ctx, "guide", map[string]any{"app": app})
	if err != nil {
		return nil // the call itself says what is wrong
	}
	guide, err := decodeView[struct {
		Operations []struct {
			Name       string
			Parameters json.RawMessage
		}
	}](result.Data)
	if err != nil {
		return nil
	}
	for _, o := range guide.Operations {
		if o.Name == tool {
			return o.Parameters
		}
	}
	return nil
}

// findTool finds a tool as Do will, or returns nil: what is wrong with the names
// is left to Do to say, and to record. A web address is not looked up, because
// nothing may be fetched before the call is on record.
func findTool(ctx context.Context, catalog aai.Catalog, app, tool string) *aai.Tool {
	if catalog == nil || strings.Contains(app, "/") {
		return nil
	}
	if found, err := catalog.Find(ctx, app); err == nil {
		return found.Tool(tool)
	}
	return nil
}

func typesOf(property *jsonNode) []string {
	is := property.Member("type")
	if is == nil {
		return nil
	}
	if is.Kind == jsontree.Text {
		return []string{is.Text}
	}
	var several []string
	for one := range is.Items() {
		several = append(several, one.Text)
	}
	return several
}
