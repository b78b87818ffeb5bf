package cli

import (
	"context"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/gybob/aai-gateway"
	"github.com/gybob/aai-gateway/internal/answer"
)

func newSettings(r *run) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "settings [key]",
		Short: "Show the settings and their purpose, or change one in your file",
		Long: "Shows each setting with its value, source and purpose, or one setting in\n" +
			"full. With set and unset it changes your own file and leaves all else in it as it is.\n" +
			"A change that lets callers do more needs your answer in a window or your passphrase.",
		Example:           "  aai-gateway settings journal.maxAge\n  aai-gateway settings set logLevel debug\n  aai-gateway settings unset logLevel",
		Args:              operands(0, 1),
		ValidArgsFunction: r.completeSetting,
		RunE: func(cmd *cobra.Command, args []string) error {
			if len(args) == 1 {
				return r.oneSetting(cmd.Context(), args[0])
			}
			return r.allSettings(cmd.Context())
		},
	}
	cmd.AddCommand(&cobra.Command{
		Use:   "set <key> <value>...",
		Short: "Change a setting in your file",
		Long: "Changes a setting in your own file. Several values are a list. A value may be written as in the file too:\n" +
			"true, 60, [\"a\", \"b\"].",
		Example:           "  aai-gateway settings set journal.maxAge 60\n  aai-gateway settings set security.denied_apps Thunderbird 'org.gnome.*'",
		Args:              operands(2, -1),
		ValidArgsFunction: r.completeSetting,
		RunE: func(cmd *cobra.Command, args []string) error {
			return r.changeSetting(cmd.Context(), args[0], strings.Join(args[1:], "\n"))
		},
	}, &cobra.Command{
		Use:               "unset <key>",
		Short:             "Take a setting out of your file",
		Args:              operands(1, 1),
		ValidArgsFunction: r.completeSetting,
		RunE:              func(cmd *cobra.Command, args []string) error { return r.changeSetting(cmd.Context(), args[0], nil) },
	})
	return cmd
}

// settingsOf returns the settings that the tool lists.
func (r *run) settingsOf(ctx context.Context, args map[string]any) (*aai.Result, []answer.Setting, error) {
	result, err := r.callBuiltin(ctx, "settings", args)
	if err != nil {
		return nil, nil, err
	}
	listed, err := decodeView[answer.Settings](result.Data)
	return result, listed.Settings, err
}

func (r *run) allSettings(ctx context.Context) error {
	result, settings, err := r.settingsOf(ctx, nil)
	if err != nil {
		return err
	}
	return r.output.show(result.Data, func() error {
		rows := make([][]string, 0, len(settings))
		for _, s := range settings {
			rows = append(rows, []string{s.Key, shortened(s), placeOf(s), s.About})
		}
		r.output.table([]string{"SETTING", "VALUE", "FROM", "PURPOSE"}, rows)
		if result.Warning != "" {
			r.output.warn(result.Warning)
		}
		return nil
	})
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

func (r *run) oneSetting(ctx context.Context, key string) error {
	_, settings, err := r.settingsOf(ctx, map[string]any{"key": key})
	if err != nil {
		return err
	}
	if len(settings) != 1 {
		return aai.Errorf(aai.Internal, "the gateway answered in a form that this command cannot show: expected one setting")
	}
	s := settings[0]
	return r.output.show(s, func() error {
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
	})
}

func (r *run) changeSetting(ctx context.Context, key string, value any) error {
	result, err := r.callBuiltin(ctx, "settings_set", map[string]any{"key": key, "value": value})
	if err != nil {
		return err
	}
	return r.showResult(result)
}

// completeSetting offers the keys of settings, and the choices of a setting that has some.
func (r *run) completeSetting(cmd *cobra.Command, args []string, _ string) ([]string, cobra.ShellCompDirective) {
	if len(args) > 1 || len(args) == 1 && cmd.Name() != "set" {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	_, settings, err := r.settingsOf(cmd.Context(), nil)
	if err != nil {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	var offers []string
	for _, s := range settings {
		switch {
		case len(args) == 0:
			offers = append(offers, offer(s.Key, s.About))
		case s.Key == args[0]:
			offers = append(offers, s.Choices...)
		}
	}
	return offers, cobra.ShellCompDirectiveNoFileComp
}
