package cli

import (
	"encoding/json"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/gybob/aai-gateway"
	"github.com/gybob/aai-gateway/internal/answer"
)

func newSettings(r *run) *cobra.Command {
	cmd := r.newToolCommand(&cobra.Command{
		Use:   "settings [key]",
		Short: "Show the settings and their purpose, or change one in your file",
		Long: "Shows each setting with its value, source and purpose, or one setting in\n" +
			"full. With set and unset it changes your own file and leaves all else in it as it is.\n" +
			"A change that lets callers do more needs your answer in a window or your passphrase.",
		Example:           "  aai-gateway settings journal.maxAge\n  aai-gateway settings set logLevel debug\n  aai-gateway settings unset logLevel",
		ValidArgsFunction: r.completeSetting,
	}, toolCommand{tool: "settings", operands: "[key]", show: showSettings})
	cmd.AddCommand(r.newToolCommand(&cobra.Command{
		Use:   "set <key> <value>...",
		Short: "Change a setting in your file",
		Long: "Changes a setting in your own file. Several values are a list. A value may be written as in the file too:\n" +
			"true, 60, [\"a\", \"b\"].",
		Example:           "  aai-gateway settings set journal.maxAge 60\n  aai-gateway settings set security.denied_apps Thunderbird 'org.gnome.*'",
		Args:              operands(2, -1),
		ValidArgsFunction: r.completeSetting,
	}, toolCommand{tool: "settings_set", operands: "key value...", prepare: func(c *toolCall) error {
		c.args["value"] = strings.Join(c.cmd.Flags().Args()[1:], "\n")
		return nil
	}}), r.newToolCommand(&cobra.Command{
		Use:               "unset <key>",
		Short:             "Take a setting out of your file",
		ValidArgsFunction: r.completeSetting,
	}, toolCommand{tool: "settings_set", operands: "key", prepare: func(c *toolCall) error {
		c.args["value"] = nil
		return nil
	}}))
	return cmd
}

// showSettings shows all settings, or the one that the call names in full.
func showSettings(r *run, c *toolCall) error {
	listed, err := decodeView[answer.Settings](c.result.Data)
	switch {
	case err != nil:
		return err
	case c.args["key"] == nil:
		return r.output.show(c.result.Data, func() error { return r.allSettings(c.result, listed.Settings) })
	case len(listed.Settings) != 1:
		return aai.Errorf(aai.Internal, "the gateway answered in a form that this command cannot show: expected one setting")
	}
	return r.output.show(listed.Settings[0], func() error { return r.oneSetting(listed.Settings[0]) })
}

func (r *run) allSettings(result *aai.Result, settings []answer.Setting) error {
	rows := make([][]string, 0, len(settings))
	for _, s := range settings {
		rows = append(rows, []string{s.Key, shortened(s), placeOf(s), s.About})
	}
	r.output.table([]string{"SETTING", "VALUE", "FROM", "PURPOSE"}, rows)
	if result.Warning != "" {
		r.output.warn(result.Warning)
	}
	return nil
}

// maxSetting limits the part of a value in a row, in characters.
const maxSetting = 60

// shortened returns the value for a row; if it cuts the value, it adds the command that
// shows all of it.
func shortened(s answer.Setting) string {
	text := settingValue(s.Value)
	runes := []rune(text)
	if len(runes) <= maxSetting {
		return text
	}
	return string(runes[:maxSetting]) + "… (whole: " + program + " settings " + s.Key + ")"
}

// placeOf returns the source of the value: a file and line, a variable, or another name.
func placeOf(s answer.Setting) string {
	if s.Source == "file" && s.Line > 0 {
		return s.From + ":" + strconv.Itoa(s.Line)
	}
	return s.From
}

func (r *run) oneSetting(s answer.Setting) error {
	r.output.lines(s.Key + ": " + s.About + ".")
	r.output.lines("  is        " + settingValue(s.Value) + "  (" + placeOf(s) + ")")
	r.output.lines("  standard  " + settingValue(s.Default))
	r.output.lines("  takes     " + strings.TrimSpace(s.Kind+" "+strings.Join(s.Choices, ", ")))
	if s.InFile != nil && (s.Source != "file" || s.Waits) {
		r.output.lines("  in file   " + settingValue(s.InFile))
	}
	if len(s.Env) > 0 {
		r.output.lines("  variable  " + strings.Join(s.Env, ", "))
	}
	if s.Widens != "" {
		r.output.lines("  needs your confirmation: " + s.Widens)
	}
	if s.Waits {
		r.output.lines("  To confirm it: aai-gateway consent confirm " + s.Key)
	}
	return nil
}

func newConfig(r *run) *cobra.Command {
	return &cobra.Command{
		Use:   "config",
		Short: "Show the settings in effect and where each of them comes from",
		RunE:  func(*cobra.Command, []string) error { return r.config() },
	}
}

func (r *run) config() error {
	settings, err := r.cfg.ShowConfig(r.flags)
	if err != nil {
		return err
	}
	return r.output.show(settings, func() error {
		rows := make([][]string, 0, len(settings))
		for _, s := range settings {
			rows = append(rows, []string{s.Name, settingValue(s.Value), s.Origin})
		}
		r.output.table([]string{"NAME", "VALUE", "ORIGIN"}, rows)
		return nil
	})
}

// settingValue formats a value as in the configuration file, except that a string has no
// quotes.
func settingValue(value any) string {
	if text, ok := value.(string); ok {
		return text
	}
	raw, err := json.Marshal(value)
	if err != nil {
		return "(cannot be shown)"
	}
	return string(raw)
}

// completeSetting offers the keys of settings, and the choices of a setting that has some.
func (r *run) completeSetting(cmd *cobra.Command, args []string, _ string) ([]string, cobra.ShellCompDirective) {
	if len(args) > 1 || len(args) == 1 && cmd.Name() != "set" {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	result, err := r.callBuiltin(cmd.Context(), "settings", nil)
	if err != nil {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	listed, _ := decodeView[answer.Settings](result.Data) // nothing is offered of an answer in another form
	var offers []string
	for _, s := range listed.Settings {
		switch {
		case len(args) == 0:
			offers = append(offers, offer(s.Key, s.About))
		case s.Key == args[0]:
			offers = append(offers, s.Choices...)
		}
	}
	return offers, cobra.ShellCompDirectiveNoFileComp
}
