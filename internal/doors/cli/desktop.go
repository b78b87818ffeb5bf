package cli

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/gybob/aai-gateway"
	"github.com/gybob/aai-gateway/internal/schema/jsontree"
)

// A shortcut is a command for one tool of the desktop. Its operands are the named
// parameters, the other parameters are its flags, and its help is the tool's description. A
// name in brackets is optional. The flag --app may replace the app operand; for "type",
// --element names the query.
type shortcut struct{ name, tool, operands string }

func shortcuts() []shortcut {
	return []shortcut{
		{"tree", "ax_get_tree", "[app]"},
		{"find", "ax_find", "[app] query"},
		{"click", "ax_click", "[app] query"},
		{"type", "ax_type", "[app] [query] text"},
		{"scroll", "ax_scroll", "[app] [query]"},
		{"drag", "ax_drag", "[app] [from_query] [to_query]"},
		{"list", listApps, ""},
		{"screenshot", "ax_screenshot", "[app]"},
	}
}

// newShortcuts makes the commands for the tools that the desktop of this computer has.
func newShortcuts(r *run) []*cobra.Command {
	var commands []*cobra.Command
	for _, s := range shortcuts() {
		if r.cfg.Desktop == nil {
			break
		}
		if tool := r.cfg.Desktop.Tool(s.tool); tool != nil {
			commands = append(commands, r.newShortcut(s, tool))
		}
	}
	return commands
}

func (r *run) newShortcut(s shortcut, tool *aai.Tool) *cobra.Command {
	use, names := s.name, strings.Fields(s.operands)
	for _, name := range names {
		if strings.HasPrefix(name, "[") {
			use += " " + name
		} else {
			use += " <" + name + ">"
		}
	}
	t := toolCommand{app: r.cfg.Desktop.ID, tool: tool.Name, operands: s.operands, show: showPicture}
	switch {
	case s.tool == "ax_click":
		t.prepare = r.useVisual
	case len(names) > 0 && s.tool != "ax_screenshot":
		t.prepare = r.useOnlyApp
	}
	for _, f := range flagsOf(tool) {
		name := strings.ReplaceAll(f.parameter, "_", "-")
		if slices.ContainsFunc(names, func(name string) bool { return bareName(name) == f.parameter }) {
			switch {
			case name == "app":
			case s.name == "type" && name == "query":
				name = "element"
			default:
				continue
			}
		}
		t.flags = append(t.flags, toolFlag{name, f, f.about})
		if name == "max-depth" {
			t.flags = append(t.flags, toolFlag{"depth", f, "as --max-depth"})
		}
	}
	cmd := r.newToolCommand(&cobra.Command{Use: use, Short: tool.Description}, t)
	if s.name == "click" {
		cmd.Flags().Bool("visual", false, "the query is words that the window draws, and that are in no tree")
	}
	if s.name == "screenshot" {
		cmd.Flags().StringP("output", "o", "", "write the picture to this `file` (default screenshot.png, numbered)")
	}
	return cmd
}

// listApps is the tool that lists the running programs.
const listApps = "ax_list_apps"

// useOnlyApp completes a call without a program by the only one that runs, besides the terminal
// itself.
func (r *run) useOnlyApp(c *toolCall) error {
	if c.args["app"] != nil {
		return nil
	}
	result, err := r.do(c.cmd.Context(), aai.DesktopApp, listApps, nil)
	if err != nil {
		return err
	}
	type row struct {
		Name string
		PID  int
		Host bool
	}
	list, err := decodeView[struct{ Apps []row }](result.Data)
	if err != nil {
		return err
	}
	rows := slices.DeleteFunc(list.Apps, func(a row) bool { return a.Host })
	if len(rows) == 1 {
		c.args["app"] = strconv.Itoa(rows[0].PID)
		r.output.note(fmt.Sprintf("In %s (process %d), the only program that runs.", rows[0].Name, rows[0].PID))
		return nil
	}
	var names []string
	for _, a := range rows {
		names = append(names, a.Name)
	}
	if len(names) == 0 {
		return usage(c.cmd, "no program with a window runs")
	}
	return usage(c.cmd, "%d programs run: give one of them by --app: %s", len(names), strings.Join(names, ", "))
}

// useVisual completes a call without a program, and with --visual replaces its query by the ref of the words. Such a ref
// holds in one conversation, which is one command.
func (r *run) useVisual(c *toolCall) error {
	if err := r.useOnlyApp(c); err != nil || !c.isSet("visual") {
		return err
	}
	description := map[string]any{"app": c.args["app"], "description": c.args["query"]}
	if nth := c.args["nth"]; nth != nil {
		description["nth"] = nth
		delete(c.args, "nth")
	}
	result, err := r.do(c.cmd.Context(), c.app, "ax_find_visual", description)
	if err != nil {
		return err
	}
	found, err := decodeView[struct {
		Found  bool
		Ref    string `json:"element_ref"`
		Others []any
	}](result.Data)
	switch {
	case err != nil:
		return err
	case !found.Found:
		message, texts, _ := strings.Cut(result.Text, "\n")
		return &aai.Error{Code: aai.ElementNotFound, Message: strings.TrimSuffix(message, ":"), Hint: texts, Delivery: aai.NotDelivered}
	case len(found.Others) > 0:
		return &aai.Error{Code: aai.AmbiguousTarget, Message: result.Text, Delivery: aai.NotDelivered, Hint: "Give --nth to choose one."}
	}
	c.args["query"] = found.Ref
	return nil
}

// showPicture shows a result whose images are written to files.
func showPicture(r *run, c *toolCall) error {
	file := ""
	if flag := c.cmd.Flags().Lookup("output"); flag != nil {
		file = flag.Value.String()
	}
	if err := r.saveImages(c.result, file); err != nil {
		return err
	}
	if r.cfg.Name != program && r.output.format == formatJSON && c.result.Data != nil {
		return r.output.json(dataItself(c.tool, c.result))
	}
	return r.showResult(c.result)
}

// dataItself returns the data of a tool of the desktop without a frame: programs as a list, and a tree
// with its windows as children.
func dataItself(tool string, result *aai.Result) any {
	data, err := decodeView[map[string]any](result.Data)
	if err != nil {
		return result.Data
	}
	if tool == listApps {
		return data["apps"]
	}
	if tree, _ := data["tree"].(map[string]any); tree != nil && tool == "ax_get_tree" {
		delete(data, "tree")
		data["children"] = tree["elements"]
	}
	if result.Warning != "" {
		data["warning"] = result.Warning
	}
	return data
}

// A typedFlag is the value of a flag for a parameter with those types in the tool's schema.
type typedFlag struct {
	parameter, about, text string
	types                  []string
}

func (p *typedFlag) String() string { return p.text }

// Type implements pflag.Value.
func (p *typedFlag) Type() string {
	if len(p.types) == 1 {
		return p.types[0]
	}
	return "value"
}

// Set implements pflag.Value. The tool checks the value.
func (p *typedFlag) Set(text string) error {
	p.text = text
	return nil
}

// flagsOf reads the parameters from the tool's schema, in its order.
func flagsOf(tool *aai.Tool) []*typedFlag {
	params, err := nodeOf(tool.Params.Source)
	if err != nil {
		return nil
	}
	var flags []*typedFlag
	for property := range params.Member("properties").Items() {
		about := memberText(property, "description")
		if enum := property.Member("enum"); enum != nil && enum.First != nil {
			about = strings.TrimSpace(fmt.Sprintf("one of %v. %s", enum.Value(nil), about))
		}
		if standard := property.Member("default"); standard != nil && standard.Kind != jsontree.Null {
			about = strings.TrimSpace(fmt.Sprintf("%s (default %v)", about, standard.Value(nil)))
		}
		flags = append(flags, &typedFlag{parameter: property.Name, about: about, types: typesOf(property)})
	}
	return flags
}

// saveImages writes the result's images to files and adds their names to the text. With
// --format json and no file it leaves the result unchanged.
func (r *run) saveImages(result *aai.Result, file string) error {
	if r.output.format == formatJSON && file == "" {
		return nil
	}
	for _, image := range result.Images {
		name := file
		if name == "" {
			name = unusedName("screenshot", ".png")
		}
		if err := os.WriteFile(name, image.Data, 0o600); err != nil {
			return fmt.Errorf("the picture cannot be written: %w", err)
		}
		result.Text = strings.TrimSpace(result.Text + "\n" + name)
	}
	result.Images = nil
	return nil
}

// unusedName returns the first of name.png, name-2.png … that does not exist.
func unusedName(name, extension string) string {
	for n := 1; ; n++ {
		file := name + extension
		if n > 1 {
			file = fmt.Sprintf("%s-%d%s", name, n, extension)
		}
		if _, err := os.Lstat(filepath.Clean(file)); os.IsNotExist(err) {
			return file
		}
	}
}
