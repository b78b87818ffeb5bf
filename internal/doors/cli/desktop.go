package cli

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
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
	use, names := s.name, strings.Fields(s.operands)
	for _, name := range names {
		if strings.HasPrefix(name, "[") {
			use += " " + name
		} else {
			use += " <" + name + ">"
		}
	}
	t := toolCommand{app: r.cfg.Desktop.ID, tool: tool.Name, operands: s.operands, show: showPicture}
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
	if s.name == "screenshot" {
		cmd.Flags().StringP("output", "o", "", "write the picture to this `file` (default screenshot.png, numbered)")
	}
	return cmd
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
	return r.showResult(c.result)
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
