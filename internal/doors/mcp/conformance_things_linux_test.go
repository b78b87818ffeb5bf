package mcp_test

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// The resources and prompts that the conformance suite asks for.

func addConformanceThings(t *testing.T, server *mcp.Server) {
	image := decoded(t, pixelPNG)
	resource := func(name, mime string, contents *mcp.ResourceContents) {
		uri := "test://" + name
		contents.URI, contents.MIMEType = uri, mime
		server.AddResource(&mcp.Resource{URI: uri, Name: name, MIMEType: mime}, func(context.Context, *mcp.ReadResourceRequest) (*mcp.ReadResourceResult, error) {
			return &mcp.ReadResourceResult{Contents: []*mcp.ResourceContents{contents}}, nil
		})
	}
	resource("static-text", "text/plain", &mcp.ResourceContents{Text: "This is the content of the static text resource."})
	resource("static-binary", "image/png", &mcp.ResourceContents{Blob: image})
	resource("watched-resource", "text/plain", &mcp.ResourceContents{Text: "watched"})
	server.AddResourceTemplate(&mcp.ResourceTemplate{URITemplate: "test://template/{id}/data", Name: "template", MIMEType: "application/json"},
		func(_ context.Context, req *mcp.ReadResourceRequest) (*mcp.ReadResourceResult, error) {
			id := strings.TrimSuffix(strings.TrimPrefix(req.Params.URI, "test://template/"), "/data")
			return &mcp.ReadResourceResult{Contents: []*mcp.ResourceContents{{
				URI: req.Params.URI, MIMEType: "application/json", Text: fmt.Sprintf(`{"id":%q,"templateTest":true,"data":"Data for ID: %s"}`, id, id),
			}}}, nil
		})

	prompt := func(name string, arguments []string, get func(map[string]string) []mcp.Content) {
		p := &mcp.Prompt{Name: name, Description: "A fixture of the conformance suite."}
		for _, argument := range arguments {
			p.Arguments = append(p.Arguments, &mcp.PromptArgument{Name: argument, Required: true})
		}
		server.AddPrompt(p, func(_ context.Context, req *mcp.GetPromptRequest) (*mcp.GetPromptResult, error) {
			return prompted(get(req.Params.Arguments)...), nil
		})
	}
	prompt("test_simple_prompt", nil, func(map[string]string) []mcp.Content {
		return []mcp.Content{text("This is a simple prompt for testing.")}
	})
	prompt("test_prompt_with_arguments", []string{"arg1", "arg2"}, func(args map[string]string) []mcp.Content {
		return []mcp.Content{text("Prompt with arguments: arg1='%s', arg2='%s'", args["arg1"], args["arg2"])}
	})
	prompt("test_prompt_with_embedded_resource", []string{"resourceUri"}, func(args map[string]string) []mcp.Content {
		return []mcp.Content{embedded(args["resourceUri"]), text("Process it.")}
	})
	prompt("test_prompt_with_image", nil, func(map[string]string) []mcp.Content {
		return []mcp.Content{&mcp.ImageContent{Data: image, MIMEType: "image/png"}, text("Look at it.")}
	})
}

func prompted(contents ...mcp.Content) *mcp.GetPromptResult {
	result := &mcp.GetPromptResult{}
	for _, content := range contents {
		result.Messages = append(result.Messages, &mcp.PromptMessage{Role: "user", Content: content})
	}
	return result
}
