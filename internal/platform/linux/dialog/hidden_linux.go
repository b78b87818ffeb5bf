package dialog

import (
	"bufio"
	"context"
	"net/url"
	"strings"
)

// pinentryHidden returns the function of a pinentry that asks for a hidden value, which is what pinentries are made for.
func pinentryHidden(program string, env func() []string) func(context.Context, page, func(int)) (string, bool, error) {
	return func(ctx context.Context, p page, process func(int)) (value string, entered bool, err error) {
		_, err = conversation(program, env, func(a assuan, ctx context.Context, p page) (int, error) {
			var code int
			var err error
			value, code, err = a.ask(ctx, p, "GETPIN", []string{"SETDESC " + escape(p.text), "SETPROMPT " + escape(p.number)})
			entered = err == nil && code == 0
			return 0, err
		})(ctx, p, process)
		if err != nil || !entered {
			return "", false, err
		}
		value, err = url.PathUnescape(value) // as the protocol escapes data
		return value, err == nil, err
	}
}

// zenityHidden asks for a hidden value by zenity. The text is in its arguments, so it has no values of a call.
func zenityHidden(program string, env func() []string) func(context.Context, page, func(int)) (string, bool, error) {
	return func(ctx context.Context, p page, process func(int)) (string, bool, error) {
		return typed(run(ctx, command(ctx, env(), program, "--entry", "--hide-text", "--title", p.title, "--text", escapeMnemonics([]string{p.text})[0]), process))
	}
}

// kdialogHidden is zenityHidden by kdialog.
func kdialogHidden(program string, env func() []string) func(context.Context, page, func(int)) (string, bool, error) {
	return func(ctx context.Context, p page, process func(int)) (string, bool, error) {
		return typed(run(ctx, command(ctx, env(), program, "--title", p.title, "--password", strings.ReplaceAll(p.text, `\`, `\\`)), process))
	}
}

// typed returns the first line of a program's output, and whether the person confirmed it.
func typed(out string, code int, err error) (string, bool, error) {
	if err != nil || code != 0 {
		return "", false, err
	}
	line, _ := bufio.NewReader(strings.NewReader(out)).ReadString('\n')
	return strings.TrimSuffix(line, "\n"), true, nil
}
