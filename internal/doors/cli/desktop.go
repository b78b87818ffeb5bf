package cli

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

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
		{"tree", "ax_get_tree", "app"},
		{"find", "ax_find", "app query"},
		{"click", "ax_click", "app query"},
		{"type", "ax_type", "app [query] text"},
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
	names := strings.Fields(s.operands)
	use := s.name
	for _, name := range names {
		if strings.HasPrefix(name, "[") {
			use += " " + name
		} else {
			use += " <" + name + ">"
		}
	}
	var picture string
	cmd := &cobra.Command{
		Use: use, Short: tool.Description,
		Args: func(cmd *cobra.Command, args []string) error {
			names, low := withoutFlags(cmd, names)
			return operands(low, len(names))(cmd, args)
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			names, low := withoutFlags(cmd, names)
			object := operandArgs(names, low, args)
			cmd.Flags().Visit(func(f *pflag.Flag) {
				if p, ok := f.Value.(*parameter); ok {
					object[p.name] = parseTyped(p.text, p.types)
				}
			})
			result, err := r.do(cmd.Context(), r.cfg.Desktop.ID, tool.Name, object)
			if err != nil {
				return err
			}
			if err := r.saveImages(result, picture); err != nil {
				return err
			}
			return r.showResult(result)
		},
	}
	for _, p := range parametersOf(tool) {
		name := strings.ReplaceAll(p.name, "_", "-")
		if slices.ContainsFunc(names, func(name string) bool { return strings.Trim(name, "[]") == p.name }) {
			switch {
			case p.name == "app":
			case s.name == "type" && p.name == "query":
				name = "element"
			default:
				continue
			}
		}
		flag := cmd.Flags().VarPF(p, name, "", p.about)
		if slices.Equal(p.types, []string{"boolean"}) {
			flag.NoOptDefVal = "true"
		}
		if p.name == "max_depth" {
			cmd.Flags().Var(p, "depth", "as --max-depth")
		}
	}
	if s.name == "screenshot" {
		cmd.Flags().StringVarP(&picture, "output", "o", "", "write the picture to this `file` (default screenshot.png, numbered)")
	}
	return cmd
}

// withoutFlags returns the operands that no flag sets, and the least number of them.
func withoutFlags(cmd *cobra.Command, names []string) (rest []string, low int) {
	given := make(map[string]bool)
	cmd.Flags().Visit(func(f *pflag.Flag) {
		if p, ok := f.Value.(*parameter); ok {
			given[p.name] = true
		}
	})
	for _, name := range names {
		if given[strings.Trim(name, "[]")] {
			continue
		}
		rest = append(rest, name)
		if !strings.HasPrefix(name, "[") {
			low++
		}
	}
	return rest, low
}

// operandArgs maps the operands to the names of the parameters. If operands are missing, it
// omits optional parameters first.
func operandArgs(names []string, low int, args []string) map[string]any {
	object := make(map[string]any, len(names))
	spare := len(args) - low
	for _, name := range names {
		if strings.HasPrefix(name, "[") {
			if spare == 0 {
				continue
			}
			spare--
		}
		object[strings.Trim(name, "[]")] = args[0]
		args = args[1:]
	}
	return object
}

// A parameter is a flag that sets a parameter of a tool.
type parameter struct {
	name, about, text string
	types             []string
}

func (p *parameter) String() string { return p.text }

// Type implements pflag.Value.
func (p *parameter) Type() string {
	if len(p.types) == 1 {
		return p.types[0]
	}
	return "value"
}

// Set implements pflag.Value. The tool checks the value.
func (p *parameter) Set(text string) error {
	p.text = text
	return nil
}

// parametersOf reads the parameters from the tool's schema, in its order.
func parametersOf(tool *aai.Tool) []*parameter {
	params, err := nodeOf(tool.Params.Source)
	if err != nil {
		return nil
	}
	var parameters []*parameter
	for property := range params.Member("properties").Items() {
		about := memberText(property, "description")
		if enum := property.Member("enum"); enum != nil && enum.First != nil {
			about = strings.TrimSpace(fmt.Sprintf("one of %v. %s", enum.Value(nil), about))
		}
		if standard := property.Member("default"); standard != nil && standard.Kind != jsontree.Null {
			about = strings.TrimSpace(fmt.Sprintf("%s (default %v)", about, standard.Value(nil)))
		}
		parameters = append(parameters, &parameter{name: property.Name, about: about, types: typesOf(property)})
	}
	return parameters
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
