package cli

import "github.com/spf13/cobra"

func newSecret(r *run) *cobra.Command {
	return newGroup("secret", "Keep secrets that agents fill in without seeing them",
		r.newToolCommand(&cobra.Command{
			Use: "set <name>", Short: "Set a secret for one app or web site; the value is asked in a window",
			Long: "Agents write {{secret:NAME}} where the value belongs, and the gateway fills it in at the last moment, into\n" +
				"the app or site and the field of the secret alone. You are asked once for each agent. The value is asked in a\n" +
				"window, or where there is no screen at this terminal; it is no argument, so that no program sees it.",
			Example: "  aai-gateway secret set github-password --for https://github.com\n" +
				"  aai-gateway secret set github-code --for https://github.com --totp\n" +
				"  aai-gateway secret set mail-key --for org.example.Mail --field api_key --ref pass:mail/key",
		}, toolCommand{tool: "secret_set", operands: "name", flags: []toolFlag{
			{"for", "", "the only `app` (its id) or web origin, such as https://github.com, that gets it"},
			{"field", "", "the only `field` there: its name, role:name or #id; for a tool the name of the argument"},
			{"totp", false, "the value is a seed of one-time codes: base32, or an otpauth:// address"},
			{"ref", "", "read the value from a password manager when it is used: pass:PATH, secret-service:attribute=value,…, op://VAULT/ITEM/FIELD or bw:ITEM"},
		}, prepare: func(*toolCall) error {
			r.showsOwnProgress = true // the person is asked meanwhile
			return nil
		}}),
		r.newToolCommand(&cobra.Command{
			Use: "list", Short: "List your secrets and where each may go", Args: unknownCommandArgs,
		}, toolCommand{tool: "secrets", show: showText}),
		r.newToolCommand(&cobra.Command{
			Use: "remove <name>", Short: "Remove a secret",
		}, toolCommand{tool: "secret_remove", operands: "name"}),
	)
}
