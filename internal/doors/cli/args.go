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
	"github.com/gybob/aai-gateway/internal/answer"
	"github.com/gybob/aai-gateway/internal/schema/jsontree"
)

// maxArgBytes limits the JSON that is read from standard input. The gateway accepts less
// than that in one call.
const maxArgBytes = 8 << 20

// readObject parses the JSON object of a command line; it returns nil without one.
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
			return nil, usage(cmd, "standard input has more than %d MiB", maxArgBytes>>20)
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

// readAll is io.ReadAll, except that it returns when ctx ends.
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

// parseJSON parses exactly one JSON value. Numbers keep all their digits.
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
	return value, checkNames(text)
}

// checkNames returns an error if a name occurs twice in an object of the JSON text. The decoder would keep
// the last one, but a person may have read the first.
func checkNames(text string) error {
	_, fault := new(jsontree.Reader[struct{}]).Read([]byte(text), jsontree.Options[struct{}]{})
	switch {
	case fault == nil:
		return nil
	case fault.Problem == jsontree.DuplicateName:
		return fmt.Errorf("%s: the name occurs twice in its object%s", jsontree.JoinPath(fault.Path, fault.Name, -1), fault.Position())
	}
	return fmt.Errorf("%s%s", fault.Reason, fault.Position())
}

// addPairs adds the values of --arg to a copy of object.
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

// parseTyped parses text as one of the types that the parameter may have. It returns a
// string if string is among them or text is not JSON: then the tool's own check names the
// parameter in its error.
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

// parameterTypes returns, by parameter name, the types in the schema of a tool's
// parameters. It knows only the keyword "type"; other schemas yield no types.
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

// parametersOf returns the schema of a tool's parameters, or nil. For the app of a site it
// makes a separate call, which the journal records.
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
		return nil // the tool call reports the error
	}
	guide, err := decodeView[answer.Guide[answer.Operation]](result.Data)
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

// findTool finds a tool as [gateway.Gateway.Do] does, or returns nil: Do reports and records
// unknown names. It does not look up a web address, because nothing may be fetched before
// the call is recorded.
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
