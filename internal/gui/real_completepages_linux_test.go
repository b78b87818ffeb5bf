package gui_test

import (
	"fmt"
	"strings"
)

// many repeats a text n times, with the number in place of N.
func many(n int, text string) string {
	var b strings.Builder
	for i := range n {
		b.WriteString(strings.ReplaceAll(text, "N", fmt.Sprint(i)))
	}
	return b.String()
}

// completePages returns the bodies of forty kinds of pages, by name.
func completePages() map[string]string {
	return map[string]string{
		"icons": `<style>i, b.x { display: inline-block; width: 20px; height: 20px; background: red }</style><img class="trash" src="/t.png" width="20" height="20" onclick="1">
<i class="fa fa-pen" onclick="1"></i><b class="x" onclick="1"></b><button class="close"></button><button><img src="/save.svg" width="9" height="9"></button><a href="#a" class="home"></a>`,
		"mixed":      `<p>Please read <a href="#a">the terms</a> and <a href="#b">the policy</a> before <b>you</b> go on.</p><p><a href="#c">First</a> then words <button>Press</button> and more</p>`,
		"table":      `<table><caption>People</caption><tr><th>Name<th>Age<th>What</tr>` + many(30, `<tr><td>Person N<td>N<td><button>Edit</button> <a href="#N">Open</a></tr>`) + `</table>`,
		"shadow":     `<x-a></x-a><script>customElements.define("x-a", class extends HTMLElement { connectedCallback() { this.attachShadow({mode: "open"}).innerHTML = "<p>In the shadow</p><button>Shadow button</button><span onclick='1'>Shadow click</span>"; } });</script>`,
		"form":       `<form><label>Name <input></label><label>Mail <input type="email" required></label><label>Age <input type="number" min="0" max="9"></label><label>When <input type="date"></label><label>At <input type="time"></label><label>Colour <input type="color"></label><label>File <input type="file"></label><label>How <input type="range"></label><label>Secret <input type="password" value="x"></label><textarea aria-label="Text">some</textarea><button>Send</button></form>`,
		"choices":    `<fieldset><legend>Plan</legend><label><input type="radio" name="a" checked>Free</label><label><input type="radio" name="a">Pro</label></fieldset><label><input type="checkbox">Agree</label><select aria-label="One"><option>Red<option>Green</select><select multiple aria-label="Some"><option>Cat<option>Dog<option>Cow</select>`,
		"unlabelled": `<input><input placeholder="Search here"><input type="checkbox"><input type="radio"><select><option>One<option>Two</select><textarea></textarea><button></button>`,
		"aria":       `<div role="button" tabindex="0">Role button</div><div role="checkbox" aria-checked="true" tabindex="0">Role box</div><div role="switch" aria-checked="false" tabindex="0">Role switch</div><div role="slider" aria-valuenow="3" tabindex="0" aria-label="Role slider"></div><div role="textbox" contenteditable aria-label="Role field">it holds</div><div role="link" tabindex="0">Role link</div>`,
		"menus":      `<ul role="menubar"><li role="menuitem" tabindex="0">File<li role="menuitem" tabindex="-1">Edit</ul><div role="menu"><div role="menuitem" tabindex="0">Cut</div><div role="menuitemcheckbox" aria-checked="true" tabindex="-1">Wrap</div></div>`,
		"tabs":       `<div role="tablist"><button role="tab" aria-selected="true">One</button><button role="tab">Two</button></div><div role="tabpanel">Panel one <button>In it</button></div>`,
		"tree":       `<ul role="tree"><li role="treeitem" aria-expanded="true" tabindex="0">Root<ul role="group"><li role="treeitem" tabindex="-1">Leaf A<li role="treeitem" tabindex="-1">Leaf B</ul></ul>`,
		"grid":       `<div role="grid" aria-label="Grid">` + many(5, `<div role="row"><div role="gridcell" tabindex="-1">Cell N a</div><div role="gridcell" tabindex="-1">Cell N b</div></div>`) + `</div>`,
		"listbox":    `<div role="listbox" aria-label="Pick" tabindex="0">` + many(12, `<div role="option">Choice N</div>`) + `</div><div role="combobox" aria-expanded="false" tabindex="0" aria-label="Combo">value</div>`,
		"dialog":     `<dialog open aria-label="Ask"><p>Really do it?</p><button>Yes</button><button>No</button></dialog><button>Behind</button>`,
		"modal":      `<dialog id="d" aria-label="Modal"><p>Stop here</p><button>Fine</button></dialog><p>Behind it</p><script>d.showModal()</script>`,
		"alerts":     `<div role="alert">Something went wrong</div><div role="status">All saved</div><progress value="3" max="9"></progress><meter value="0.4"></meter><output>The output</output>`,
		"details":    `<details><summary>Closed one</summary><p>Not seen</p></details><details open><summary>Open one</summary><p>Seen in it</p><button>In open</button></details>`,
		"editable":   `<div contenteditable>Edit me</div><div contenteditable class="empty"></div><p contenteditable>A paragraph <b>bold</b> to edit</p>`,
		"canvas":     `<canvas width="80" height="40" class="board" onclick="1"></canvas><canvas width="80" height="40" tabindex="0" aria-label="Named board"></canvas><canvas width="10" height="10">fallback</canvas>`,
		"svg":        `<svg width="90" height="40"><g onclick="1" class="bar"><rect width="30" height="40"/></g><circle cx="60" cy="20" r="15" onclick="1"/><text x="5" y="20">Drawn text</text><a href="#s"><text x="40" y="35">Drawn link</text></a></svg>`,
		"divs":       `<style>.p { cursor: pointer }</style><div class="p" onclick="1">Div button</div><div class="p row" onclick="1"><span>Left</span><span>Right</span></div><span onclick="1">★</span><div onclick="1"><p>Holder</p><button>Own button</button><p>after it</p></div>`,
		"cards":      many(4, `<div class="card" onclick="1"><h3>Card N</h3><p>Words of card N</p><span>N €</span><button>Buy N</button><a href="#N">More N</a></div>`),
		"nested":     `<div onclick="1" class="outer"><div onclick="1" class="middle">Middle <span onclick="1" class="inner">Inner</span></div>Outer words</div>`,
		"root":       `<div id="root" onclick="1"><header><a href="#h">Logo</a><nav><a href="#1">One</a><a href="#2">Two</a></nav></header><main><h1>Title</h1><p>` + strings.Repeat("Words and words. ", 40) + `</p></main><footer>The foot <a href="#f">Imprint</a></footer></div>`,
		"landmarks":  `<header>Top words</header><nav aria-label="Main"><a href="#1">Home</a></nav><main><article><h2>Article</h2><p>Its words</p></article><aside>Aside words</aside><section aria-label="Part">In part</section></main><footer>Foot</footer><search><input aria-label="Seek"></search>`,
		"headings":   many(6, `<h2>Heading N <a href="#N">#</a></h2><p>Below N</p>`) + `<hgroup><h1>Big</h1><p>Sub</p></hgroup>`,
		"lists":      `<ul><li>One<li>Two <a href="#2">link</a><li>Three<ul><li>Three a<li>Three b</ul></ul><ol><li>First<li>Second</ol><dl><dt>Term<dd>Meaning of it<dt>Other<dd>Its <a href="#o">meaning</a></dl>`,
		"thousands":  `<ul>` + many(3000, `<li>Item number N</li>`) + `</ul>`,
		"buttons":    many(400, `<button>Button N</button> `),
		"below":      many(120, `<p>Paragraph number N of it</p>`) + `<button>Far button</button><img src="/far.png" class="far-icon" onclick="1"><div class="far-card" onclick="1">Far card</div><input aria-label="Far field">`,
		"scrollers":  `<div style="height: 90px; overflow: auto" tabindex="0" aria-label="Box">` + many(40, `<p>Line N <button>Go N</button></p>`) + `</div><div style="width: 200px; overflow: auto; white-space: nowrap">` + many(40, `<a href="#N">Wide N</a> `) + `</div>`,
		"iframes":    `<iframe src="/inner" title="A frame" width="300" height="120"></iframe><iframe srcdoc="<p>By source</p><button>Of source</button>" width="300" height="90"></iframe>`,
		"images":     `<img src="/a.png" alt="A picture" width="20" height="20"><figure><img src="/b.png" width="20" height="20"><figcaption>The caption</figcaption></figure><a href="#i"><img src="/link.png" width="20" height="20"></a><map name="m"><area shape="rect" coords="0,0,9,9" href="#m" alt="Corner"></map><img usemap="#m" src="/m.png" width="30" height="30" alt="Mapped"><input type="image" src="/go.png">`,
		"cjk":        `<p>请阅读<a href="#a">条款</a>，然后<button>保存文件</button></p><ul><li>第一项<li>第二项</ul><p>日本語の段落です。</p><button>확인</button>`,
		"rtl":        `<div dir="rtl" lang="ar"><p>اقرأ <a href="#a">الشروط</a> أولا</p><button>حذف</button><input aria-label="الاسم"></div><p dir="rtl">שלום <b>עולם</b></p>`,
		"emoji":      `<button>🗑</button><span onclick="1">✕</span><p>Fine 👍 so</p><button aria-label="Close">✖</button>`,
		"inline":     `<p>One <em>two</em> <code>three()</code> <kbd>Ctrl</kbd> <mark>four</mark> <del>five</del> <sub>six</sub> <q>seven</q> <time>eight</time> <abbr title="Nine">9</abbr></p><blockquote>Quoted words</blockquote><pre>pre  formatted</pre>`,
		"states":     `<button disabled>Off</button><input disabled aria-label="Off field" value="v"><input readonly aria-label="Fixed" value="w"><button aria-pressed="true">Pressed</button><button aria-expanded="false">Shut</button><a>No link</a><a href="#x" aria-current="page">Here</a>`,
		"described":  `<button title="Closes the tab"></button><input title="Hint of a field"><button aria-describedby="b">B</button><p id="b">What B does</p><div onclick="1" title="Tip of a div" style="width: 9px; height: 9px"></div><input aria-labelledby="l"><span id="l">Its label</span>`,
		"hidden":     `<p style="display: none">Gone</p><p style="visibility: hidden">Unseen</p><button hidden>Hidden</button><p aria-hidden="true">Not told</p><p style="position: absolute; left: -9999px">Only for readers</p><button style="opacity: 0">Clear</button>`,
		"media":      `<video controls width="200" height="80"></video><audio controls></audio><object data="/none">Instead</object><embed src="/none" width="9" height="9">`,
	}
}

// completeWindows returns the commands of real programs, by name. Paths with the prefix usr/ or
// libreoffice/ are below .cache/apps.
func completeWindows() map[string][]string {
	return map[string][]string{
		"mousepad":        {"mousepad", "--disable-server"},
		"l3afpad":         {"usr/bin/l3afpad"},
		"thunar":          {"thunar", "/usr/share"},
		"zenity forms":    {"zenity", "--forms", "--text=Fill", "--add-entry=Name", "--add-password=Secret", "--add-calendar=Day", "--add-combo=Kind", "--combo-values=a|b"},
		"zenity list":     {"zenity", "--list", "--checklist", "--column=", "--column=Fruit", "TRUE", "Apple", "FALSE", "Pear"},
		"zenity question": {"zenity", "--question", "--text=Really?"},
		"zenity scale":    {"zenity", "--scale", "--text=How much"},
		"zenity file":     {"zenity", "--file-selection", "--filename=/usr/share/"},
		"zenity colour":   {"zenity", "--color-selection"},
		"calculator":      {"gnome-calculator"},
		"text editor":     {"usr/bin/gnome-text-editor", "--standalone"},
		"designer":        {"/usr/lib/qt6/bin/designer"},
		"featherpad":      {"usr/bin/featherpad", "--standalone"},
		"kcalc":           {"usr/bin/kcalc"},
		"kdialog yesno":   {"kdialog", "--yesno", "Really?"},
		"kdialog list":    {"kdialog", "--checklist", "Some", "1", "Apple", "on", "2", "Pear", "off"},
		"kdialog input":   {"kdialog", "--inputbox", "Name", "Ann"},
		"calc":            {"soffice", "--calc", "--norestore", "--nologo", "--nofirststartwizard", "-env:UserInstallation=file://HOME/office"},
		"writer":          {"libreoffice/program/soffice", "--writer", "--norestore", "--nologo", "--nofirststartwizard", "-env:UserInstallation=file://HOME/office"},
	}
}
