package cli

import "github.com/spf13/cobra"

func newBrowser(r *run) *cobra.Command {
	return newGroup("browser", "Let agents use the tools of pages that are open in your browser",
		r.newToolCommand(&cobra.Command{
			Use: "list", Short: "List the browsers that listen, and their pages with tools",
			Args: unknownCommandArgs,
		}, toolCommand{tool: "browsers", show: showText}),
		r.newToolCommand(&cobra.Command{
			Use: "start [<url>]", Short: "Start a browser that agents may use, with a profile of its own",
			Long: "The browser has none of your logins, and keeps those that are made in it. It listens on a port, so every\n" +
				"program of this computer could use it. An agent that starts one (the tool browser_start, which asks you)\n" +
				"gets one without a port: no other program can use it, and it ends with the agent's gateway.",
			Example: "  aai-gateway browser start https://example.com",
		}, toolCommand{tool: "browser_start", operands: "[url]", show: showText}),
		r.newToolCommand(&cobra.Command{
			Use: "connect <browser>", Short: "Let agents use the tools of the pages of a browser, until it ends",
			Long: "A page can declare tools (WebMCP). While it is open, agents find them as an app, \"page:\" and the\n" +
				"page's origin, and you are asked about each tool. The browser must listen for DevTools: started with\n" +
				"--remote-debugging-port=0 and --user-data-dir, or switched on at chrome://inspect/#remote-debugging,\n" +
				"where the browser itself asks you at each connection.",
			Example: "  aai-gateway browser connect ~/agent-profile",
		}, toolCommand{tool: "browser_connect", operands: "browser", show: showText}),
		r.newToolCommand(&cobra.Command{
			Use: "disconnect <browser>", Short: "Take a browser away from agents",
		}, toolCommand{tool: "browser_disconnect", operands: "browser", show: showText}),
	)
}
