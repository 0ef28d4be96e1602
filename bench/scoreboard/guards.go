package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	"github.com/sidecar-ls/sidecar-ls/internal/box/sandbox/keeper"
)

// guard is a piece of code that keeps something out, and the test that must
// notice when it is switched off: off stands in the place of on.
type guard struct {
	file, on, off string
	pkg, test     string
}

var guardList = []guard{
	{"internal/doors/peers/peers.go", "case f.apart != \"\":", "case false:", "internal/doors/peers", "TestFacts"},
	{"internal/doors/peers/ancestors_unix.go", "if up.pid == os.Getpid() || up.name == Program {", "if false {", "internal/doors/peers", "TestName|TestChild"},
	{"internal/doors/peers/ancestors_unix.go", "if p.ended() {", "if false {", "internal/doors/peers", "TestNumberAgain"},
	{"internal/doors/peers/tcp_linux.go", "if who, ok = holder(pid, inode); !ok || !who.person {", "if who, ok = holder(pid, inode); ok {", "internal/doors/peers", "TestTCPShared"},
	{"internal/doors/peers/tcp_linux.go", "now.name == Program {", "now.name == \"\" {", "internal/doors/peers", "TestTCP"},
	{"internal/doors/ide/standing.go", "if who.Person() {", "if who.Person() || true {", "internal/test/e2e/ide", "TestEditorByPeer"},
	{"internal/doors/ide/standing.go", "blind: !who.Own(),", "blind: false,", "internal/test/e2e/ide", "TestEditorByPeer"},
	{"internal/doors/ide/review.go", "if d.a.held {", "if false {", "internal/test/e2e/ide", "TestEditorByPeer"},
	{"internal/doors/ide/gemini.go", "!session.agent.held && standingOf(r).held:", "false:", "internal/test/e2e/ide", "TestEditorSessionsStay"},
	{"internal/gate/dispatch/call.go", "c.req.unsure && !m.Holds() {", "c.req.unsure && false {", "internal/gate/dispatch", "TestUnsure"},
	{"internal/app/cli/main.go", "return c.who.May(name)", "return nil", "internal/test/e2e/trust", "TestWhoMayDecide"},
	{"internal/app/cli/answer.go", "if err := p.May(q.Query); err != nil {", "if err := p.May(q.Query); false && err != nil {", "internal/test/e2e/trust", "TestWhoMayDecide"},
	{"internal/doors/mcp/endpoint/host.go", "if !conn.Person() {", "if false {", "internal/test/e2e/trust", "TestCallersAnswerNothing"},
	{"internal/doors/mcp/endpoint/wire.go", "Message: w.hide(e.Message)}", "Message: e.Message}", "internal/doors/mcp/endpoint", "TestFaultsQuote"},
	{"internal/box/sandbox/mask/settings_linux.go", "(own || !bytes.Equal(there, text))", "(own || false && !bytes.Equal(there, text))", "internal/box/sandbox", "TestSettingsOfOthers"},
	{"internal/config/source.go", "src.Shared = private(src.Name, info) != nil", "_, _ = private, info", "internal/config", "TestSharedKeys"},
	{"internal/agents/profile/profiles.go", "State:    in(\".claude\", \"projects/\"+folderName),", "State:    []string{\".claude\"},", "internal/test/e2e/run", "TestAgentsState"},
	{"internal/agents/profile/home.go", "	return h.only(rel, dir)", "	return nil", "internal/test/e2e/run", "TestAgentsHomeLinks"},
	{"internal/box/sandbox/mask/bwrap_linux.go", "for _, dir := range s.WritableDirs() {", "for _, dir := range []string{s.Root} {", "internal/test/e2e/run", "TestAgentsState"},
	{"internal/app/cli/runprofile.go", "if foreign != nil {", "if false {", "internal/test/e2e/run", "TestAgentsProgram"},
	{"internal/exec/confine/confine.go", "Hidden:   doors(),", "", "internal/test/e2e/run", "TestAgentsSeeNoEditor"},
	{"internal/app/cli/agenthook.go", "&& sandbox.Inside() {", "&& sandbox.Inside != nil {", "internal/test/e2e/trust", "TestHookAlone"},
	{"internal/wire/agenthook/agenthook.go", "if dir := filepath.Join(c.agent.dir(o), notes); within(path, dir) && ", "if dir := c.agent.dir(o); within(path, dir) || notes == \"\" && ", "internal/wire/agenthook", "TestAnswers"},
	{"internal/wire/agenthook/agenthook.go", "within(path, dir) })", "within(path, dir) && false })", "internal/wire/agenthook", "TestAnswers"},
	{"internal/wire/model/stream.go", "return p.since <= maxEmpty", "return true || p.since <= maxEmpty", "internal/wire/model", "TestEmpty"},
	{"internal/wire/model/stream.go", "f.Message = withoutKey(f.Message, key)", "_ = withoutKey", "internal/wire/model", "TestKeyForms|TestKeyQuoted"},
	{"internal/sys/lookup/place.go", "if within(r.path, at) || r.info != nil && os.SameFile(r.info, info) {", "if _ = os.SameFile; false {", "internal/sys/lookup", "TestNotTaken"},
	{"internal/sys/lookup/place_unix.go", "if mode.Perm()&0o002 != 0 {", "if false {", "internal/sys/lookup", "TestOthersWrite"},
	{"internal/sys/lookup/place_unix.go", "mode.Perm()&0o020 != 0 && !administrators", "false && !administrators", "internal/sys/lookup", "TestOthersWrite"},
	{"internal/sys/lookup/lookup.go", "at != \"\" && program(at, forbidden) == \"\"", "at != \"\"", "internal/sys/lookup", "TestLaterFolders"},
	{"internal/sys/lookup/environ.go", "if p := leadsAway(dir, forbidden); p.Why != \"\" {", "if p := leadsAway(dir, forbidden); false {", "internal/sys/lookup", "TestHelpers"},
	{"tools/system/gpu.go", "path, err := programs.Find(p.program)", "path, err := exec.LookPath(p.program)", "internal/test/e2e/trust", "TestPlantedPrograms"},
	{"internal/sys/keyring/keyring.go", "path, err := r.programs.Find(r.Program)", "path, err := exec.LookPath(r.Program)", "internal/test/e2e/trust", "TestPlantedPrograms"},
	{"internal/git/gitrepo/gitcmd/command.go", "bin, err := g.programs.Find(name, g.own()...)", "bin, err := exec.LookPath(name)", "internal/test/e2e/trust", "TestPlantedPrograms"},
	{"internal/rules/policy/rules.go", "return f.Hook == Deny", "return false", "internal/rules/policy", "TestInvariants"},
	{"internal/rules/policy/rules.go", "return f.Hook == Ask && !f.Written", "return false", "internal/rules/policy", "TestInvariants"},
	{"internal/gate/dispatch/hook.go", "bytes.Contains(changed, marker) && ", "false && bytes.Contains(changed, marker) && ", "internal/gate/dispatch", "TestHooks"},
	{"internal/gate/dispatch/hook.go", "case o.Decision != hooks.Allow || v.Person:", "case o.Decision != hooks.Allow:", "internal/gate/dispatch", "TestHooks"},
	{"internal/gate/dispatch/facts.go", "for _, w := range writes {\n\t\tnames =", "for _, w := range writes[:0] {\n\t\tnames =", "internal/test/e2e/git", "TestGitWritesAreDecided"},
	{"internal/git/gitrepo/gitcmd/programs.go", "append(slices.Clone(fixed), override{\"core.hooksPath\", os.DevNull})", "slices.Clone(fixed)", "internal/git/gitrepo", "TestTrustedRunsNothing"},
	{"internal/exec/confine/githooks.go", "level == box.None || ", "level == box.None && false || ", "internal/test/e2e/git", "TestGitHooksAreConfined"},
	{"internal/exec/confine/commands.go", "ch.Said = append(ch.Said, p.moved()...)", "_ = p.moved", "internal/test/e2e/git", "TestMovedReferences"},
	{"internal/rules/hooks/keeper.go", "return n >= breakerFailures && ", "return n < 0 && ", "internal/rules/hooks", "TestBreaker"},
	{"internal/extend/hooks.go", "of := hooks.Hook{Origin: name, Project: true}", "of := hooks.Hook{Origin: name, Project: true, Trusted: on}", "internal/test/e2e/tools", "TestHooksOfProject"},
	{"internal/extend/hooks.go", "of := hooks.Hook{Origin: name, Project: true}", "of := hooks.Hook{Origin: name, Project: true, Trusted: on}", "internal/test/e2e/trust", "TestTrustOfContent"},
	{"internal/rules/hooks/run.go", "if h.Stricter && o.Decision == Allow {", "if false {", "internal/rules/hooks", "TestStricter"},
	{"internal/rules/hooks/run.go", "if h.Changed != nil {", "if false {", "internal/rules/hooks", "TestProgramChanged"},
	{"internal/config/settings.go", "d.source.Origin == Project && row.tighten != nil {", "d.source.Origin == Project && row.tighten != nil && !d.source.Trusted {", "internal/config", "TestProjectMayNot"},
	{"internal/config/settings.go", "if row.Project == Tighten {", "if false {", "internal/config", "TestHeld"},
	{"internal/config/former.go", "d.report(f.key, e.line, \"%s\", f.message())", "_ = f.message()", "internal/config", "TestFormers"},
	{"internal/gate/live/trust.go", "[]byte(now.Text), len(of.Changed()) > 0,", "[]byte(now.Text), false,", "internal/gate/live", "TestFollow"},
	{"internal/extend/trust/programs.go", "return was != is || is && (!then.same(now) || now.Hash == unreadable)", "return was != is && is && (!then.same(now) || now.Hash == unreadable)", "internal/extend/trust", "TestProgramChanged"},
	{"internal/extend/trust/line.go", "return r.parts(p.Parts, true)", "return value{unknown: true}", "internal/extend/trust", "TestLine"},
	{"internal/extend/trust/line.go", "if v.unknown && k != prints {", "if false {", "internal/extend/trust", "TestLoose"},
	{"internal/extend/trust/content.go", "return f.Hash == o.Hash && f.Exec == o.Exec", "return f.Hash == o.Hash", "internal/extend/trust", "TestExecutable"},
	{"internal/rules/hooks/run.go", "err == nil && why != \"\" && h.Changed != nil", "false", "internal/rules/hooks", "TestNotStarted"},
	{"internal/gate/live/trust.go", "state.Now[config.ProjectFile].Text == string(text)", "text != nil", "internal/gate/live", "TestOwnChange"},
	{"internal/app/serve/trust.go", "len(names) > 0 {", "len(names) < 0 {", "internal/test/e2e/trust", "TestNotOffered"},
	{"internal/skills/skills.go", "one.Origin == OfProject && !known(one.hash)", "one.Origin == OfProject && known == nil", "internal/skills", "TestKnown"},
	{"internal/exec/confine/hooks.go", "spec.LookOnly, spec.Writable = true, nil", "spec.LookOnly, spec.Writable = false, nil", "internal/test/e2e/tools", "TestHooks"},
	{"internal/extend/plugin/manager.go", "case e.Trust == Unknown:", "case e.Trust == \"\":", "internal/extend/plugin", "TestLife"},
	{"internal/extend/plugin/manager.go", "case e.place.Project && !m.o.Trusted():", "case e.place.Project && false:", "internal/extend/plugin", "TestProject"},
	{"internal/extend/plugin/tree.go", "if err == nil && t.hash != hash {", "if err == nil && t.hash != hash && false {", "internal/extend/plugin", "TestMoved"},
	{"internal/extend/plugins.go", "AlwaysAsk: t.Destructive && !c.Mine", "AlwaysAsk: false", "internal/test/e2e/tools", "TestPlugins"},
	{"tools/shell/custom.go", "if strings.HasPrefix(v, \"-\") && !plain {", "if false {", "internal/test/e2e/tools", "TestCustomTools"},
	{"internal/text/redact/redact.go", "s = mask(s, r.knownSpans(s))", "_ = r.knownSpans", "internal/text/redact", "TestKnownValues"},
	{"internal/text/redact/redact.go", "s = mask(s, r.ruleSpans(s))", "_ = r.ruleSpans", "internal/text/redact", "TestSecrets"},
	{"internal/text/redact/redact.go", "s = mask(s, r.knownAcross(s))", "_ = r.knownAcross", "internal/text/redact", "TestKnownAcrossLines"},
	{"internal/text/redact/redact.go", "s = r.across(s)", "_ = r.across", "internal/text/redact", "TestVariants"},
	{"internal/text/redact/view.go", "if n, b, ok := written(s[j:]); ok {", "if n, b, ok := written(s[j:]); ok && false {", "internal/text/redact", "TestVariants"},
	{"internal/gate/dispatch/hide.go", "v = eachString(v, \"\", func", "_ = eachString(nil, \"\", func", "internal/gate/dispatch", "TestHideJSON"},
	{"internal/app/indexing/knowledge.go", "k.o.Hide.Text,", "nil,", "internal/test/e2e/trust", "TestSecretsReachNoSink"},
	{"server/dispatch.go", "shown.Message = s.opts.Hide(own.Message)", "", "internal/test/e2e/trust", "TestSecretsReachNoSink"},
	{"server/client/client.go", "Message: c.Hide(message)", "Message: message", "internal/test/e2e/trust", "TestSecretsReachNoSink"},
	{"internal/text/redact/redact.go", "s = r.encoded(s)", "_ = r.encoded", "internal/text/redact", "TestVariants|TestSecrets"},
	{"internal/text/redact/envfile.go", "case namesSecret(strings.ToUpper(p.name)) && ", "case false && ", "internal/text/redact", "TestEnvValues"},
	{"internal/rules/policy/rules.go", "return f.Permission == Deny", "return false", "internal/rules/policy", "TestMatrix"},
	{"internal/rules/policy/rules.go", "return f.AlwaysAsk", "return false", "internal/rules/policy", "TestInvariants"},
	{"internal/rules/policy/rules.go", "return f.Unconfined != \"\" &&", "return false &&", "internal/rules/policy", "TestInvariants"},
	{"internal/rules/policy/shell/shell.go", "case !unicode.IsPrint(r):", "case false:", "internal/rules/policy/shell", "TestSlips|TestCorpus"},
	{"internal/rules/policy/shell/shell.go", "r.redirect(n)", "_ = r.redirect", "internal/rules/policy/shell", "TestSlips|TestCorpus"},
	{"internal/rules/policy/shell/shell.go", "if u, ok := unwrap(c); ok {", "if u, ok := unwrap(c); ok && false {", "internal/rules/policy/shell", "TestDeny"},
	{"internal/rules/policy/shell/judge.go", "if Harmful(a.Name) || !a.Value.Known {", "if false {", "internal/rules/policy/shell", "TestSlips|TestCorpus"},
	{"internal/rules/policy/shell/judge.go", "for _, why := range l.Doubts {", "for _, why := range l.Doubts[:0] {", "internal/rules/policy/shell", "TestSlips|TestCorpus"},
	{"internal/rules/policy/shell/judge.go", "why == \"\" || !j.Rules.deny()", "true", "internal/rules/policy/shell", "TestDenyHolds"},
	{"internal/rules/policy/shell/judge.go", "if part, why := broad(l); why != \"\" {", "if part, why := broad(l); why != \"\" && false {", "internal/rules/policy/shell", "TestBroad"},
	{"internal/rules/policy/shell/wrappers.go", "words = append(words, anything)", "_ = anything", "internal/rules/policy/shell", "TestSlips"},
	{"internal/rules/policy/shell/awk.go", "if awkWords.MatchString(script) ||", "if false ||", "internal/rules/policy/shell", "TestSlips"},
	{"internal/gate/dispatch/command.go", "j.Secret = func()", "_ = func()", "internal/gate/dispatch", "TestBroadReadsAreAsked"},
	{"internal/gate/dispatch/approve.go", "case a.Irrecoverable && ans.Typed != confirmWord:", "case false:", "internal/gate/dispatch", "TestTampering"},
	{"internal/gate/dispatch/approve.go", "case !ans.Allow:", "case false:", "internal/gate/dispatch", "TestTampering"},
	{"internal/gate/dispatch/approve.go", "if decided {", "if decided || true {", "internal/test/e2e/mcp", "TestAgentWithoutUser"},
	{"internal/exec/confine/see.go", "if want == worldDisk || err != nil || kind == world.SeparateCopy {\n\t\tspec.look()", "if want == worldDisk || err != nil || kind == world.SeparateCopy {", "internal/test/e2e/mcp", "TestMCPAccess"},
	{"internal/box/sandbox/mask/bwrap_linux.go", "range slices.Sorted(maps.Keys(dirs)) {", "range slices.Backward(slices.Sorted(maps.Keys(dirs))) {", "internal/test/e2e/world", "TestWritableAround"},
	{"internal/exec/confine/beside.go", "\t\tspec.take(&other)\n", "", "internal/test/e2e/world", "TestFoldersKeepTheirOwn"},
	{"internal/exec/confine/beside.go", "other.private()", "", "internal/test/e2e/world", "TestFoldersOfCommands"},
	{"internal/exec/confine/commands.go", "past = append(past, dirs...)", "_ = dirs", "internal/test/e2e/world", "TestFoldersHideHistory"},
	{"internal/extend/mcp/source/changed.go", "if c.writes.running == 0 {\n\t\ts.held(w)", "if c.writes.running == 0 {", "internal/test/e2e/mcp", "TestMCPWritesOfNobody"},
	{"internal/config/mcpservers.go", "s.Access == MCPDisk && p.origin != User", "false", "internal/config", "TestMCPAccess"},
	{"internal/extend/mcp/source/config.go", "if s.Access == config.MCPDisk {", "if false {", "internal/test/e2e/mcp", "TestMCPAccess"},
	{"internal/doors/mcp/endpoint/ask.go", "now().Sub(asked) < quickest", "now().Sub(asked) < 0", "internal/doors/mcp/endpoint", "TestWhoSaidNo"},
	{"internal/config/tighten.go", "case !to.AtLeast(from):", "case false && !to.AtLeast(from):", "internal/config", "TestProject"},
	{"internal/gate/dispatch/dispatch.go", "m = m.Hosts(owner)", "_ = owner", "internal/gate/dispatch", "TestNewHostsOfTheOwner"},
	{"internal/gate/dispatch/dispatch.go", "return reading{workspace.Guard(see, allow)}", "return reading{see}", "internal/gate/dispatch", "TestFailuresAreResults"},
	{"internal/gate/dispatch/envelope.go", "strings.ReplaceAll(text, \"</\"+name, \"<\\u2215\"+name)", "text", "internal/gate/dispatch", "TestOutsideTextCannotCloseItsEnvelope"},
	{"internal/agents/profile/home.go", "!refreshed(theirs, ours)", "false", "internal/agents/profile", "TestReturn"},
	{"internal/gate/dispatch/audit.go", "return shortened(record(name, list))", "_ = record\n\t\treturn shortened(list)", "internal/gate/dispatch", "TestRecorded"},
	{"internal/gate/dispatch/kept.go", "list[i] = withoutSecretFiles(s)", "list[i] = s", "internal/gate/dispatch", "TestRecordedFiles"},
	{"internal/rules/auditlog/verify.go", "case r.Prev != last.hash:", "case false:", "internal/rules/auditlog", "Test.*"},
	{"internal/rules/auditlog/auditlog.go", "return r, r.Hash == sum(body)", "return r, true", "internal/rules/auditlog", "Test.*"},
	{"internal/config/settings.go", "case project && !d.source.Trusted && row.Project == Never:", "case false:", "internal/config", "TestProjectMayNot"},
	{"internal/files/workspace/guard.go", "return Sensitive(name) && (g.allow == nil || !g.allow(name))", "return false", "internal/files/workspace", "TestGuard"},
	{"internal/files/workspace/names.go", "case askNames[part] || hasShort(askShort, part), i", "case i", "internal/files/workspace", "TestProtected"},
	{"internal/doors/attach/places_unix.go", "case info.Mode().Perm()&0o077 != 0:", "case false:", "internal/doors/attach", "TestHostile"},
	{"internal/box/sandbox/rights/confine_linux.go", "if err := applySeccomp(p.Families); err != nil {", "if err := error(nil); err != nil {", "internal/box/sandbox", "TestEscapes"},
	{"internal/box/sandbox/rights/confine_linux.go", "if err := p.Files.apply(); err != nil {", "if err := error(nil); err != nil {", "internal/box/sandbox", "TestEscapes"},
	{"internal/box/sandbox/keeper/keep_linux.go", "unix.PR_SET_CHILD_SUBREAPER, 1,", "unix.PR_SET_CHILD_SUBREAPER, 0,", "internal/box/sandbox", "TestTree"},
	{"internal/box/sandbox/keeper/keep_linux.go", "signal.Notify(make(chan os.Signal, 1), ", "signal.Ignore(", "internal/box/sandbox", "TestKeeperStays"},
	{"internal/box/sandbox/mask/protect_linux.go", "for _, name := range spec.Missing {", "for _, name := range spec.Missing[:0] {", "internal/box/sandbox", "TestEscapes"},
	{"internal/box/world/export.go", "|| w.doubts(o.rel):", "|| false && w.doubts(o.rel):", "internal/test/e2e/world", "TestCancelledCommand"},
	{"internal/gate/dispatch/written.go", "r.Mode = heldMode\n\t}\n\tres, err", "_ = heldMode\n\t}\n\tres, err", "internal/test/e2e/world", "TestCancelledCommand"},
	{"internal/box/world/left.go", "if err != nil || !isPrivate(dir) {", "if err != nil {", "internal/box/world", "TestLeftThatIsNotOurs"},
	{"internal/box/world/left.go", "|| c.AfterLink && workspace.LeadsOut(c.Path, string(c.After))", "", "internal/box/world", "TestLeftThatIsNotOurs"},
	{"internal/box/world/export.go", "case w.stays || w.out.has(o.rel) || w.doubts(o.rel):", "case w.doubts(o.rel):", "internal/box/world", "TestHeld"},
	{"internal/box/world/export.go", "if w.drops {", "if false {", "internal/box/world", "TestHeld"},
	{"internal/box/world/collect.go", "k.f.files[at], k.f.apart[at] = true, true", "_ = at", "internal/box/world", "TestDecidedApart"},
	{"internal/box/world/manager.go", "failed := m.rescue(real, dir); failed", "failed := error(nil); failed", "internal/box/world", "TestHeldKilled"},
	{"internal/sys/osfile/dir.go", "if err == nil && !os.SameFile(info, opened) {", "if false && !os.SameFile(info, opened) {", "internal/sys/osfile", "TestSubRace"},
	{"internal/exec/confine/hidden.go", "spec.Hidden = append(spec.Hidden, dirs...)", "_ = dirs", "internal/test/e2e/world", "TestWorldHidesOwnState"},
	{"internal/box/sandbox/mask/bwrap_linux.go", "for _, path := range s.Hidden {", "for _, path := range s.Hidden[:0] {", "internal/box/sandbox", "TestEscapes"},
	{"internal/box/sandbox/mask/watch_linux.go", "return masks[i], true", "_ = i", "internal/box/sandbox", "TestMaskLost"},
	{"internal/box/sandbox/mask/protect_git_linux.go", "return g.repository(path)", "return nil", "internal/test/e2e/git", "TestRepositoriesOfCommands"},
	{"internal/box/sandbox/mask/protect_git_linux.go", "for _, name := range gitEmpty {", "for _, name := range gitEmpty[:0] {", "internal/test/e2e/git", "TestRepositoriesOfCommands"},
	{"internal/box/sandbox/mask/protect_git_linux.go", "for _, name := range spec.LinkedProtected {", "for _, name := range spec.LinkedProtected[:0] {", "internal/test/e2e/git", "TestLinkedTreeOfCommands"},
	{"internal/box/sandbox/keeper/keep_linux.go", "after(b.record.Name())", "_ = after", "internal/test/e2e/git", "TestRepositoriesOfKilledServer"},
	{"internal/git/gitguard/gitguard.go", "said = append(said, h.setAside(a))", "_ = h.setAside", "internal/test/e2e/git", "TestRepositoriesOfCommands"},
	{"internal/git/gitguard/watch.go", "w.report(w.state.check(context.Background(), w.o.Look, nil))", "_ = w.report", "internal/test/e2e/git", "TestRepositoriesWhileRunning"},
	{"internal/git/gitrepo/gitcmd/hazard.go", "if gitconfig.KeyMatches(key, s.Key) {", "if gitconfig.KeyMatches(key, s.Key) && false {", "internal/git/gitrepo/gitcmd", "TestHazard"},
	{"internal/files/inventory/inventory.go", "if !v.sure || v.stamp != at {", "if !v.sure {", "internal/files/inventory", "TestForgedTime"},
	{"internal/files/inventory/inventory.go", "workspace.Sensitive(rel) && ", "workspace.Sensitive(rel) && len(n.found) < 1000 && ", "internal/files/inventory", "TestLook"},
	{"internal/exec/confine/hidden.go", "case inventory.Closed:", "case 99:", "internal/test/e2e/world", "TestSecretsOfCommands"},
	{"internal/exec/confine/hidden.go", "spec.Hidden = append(spec.Hidden, answering(sockets)...)", "_ = answering", "internal/test/e2e/world", "TestSocketsOfCommands"},
	{"internal/exec/confine/hidden.go", "spec.ReadOnly = append(spec.ReadOnly, obeyed(item)...)", "_ = obeyed", "internal/test/e2e/git", "TestRepositoriesOfCommands"},
	{"internal/box/world/export.go", "case o.stays || !w.equal && !inDependencies(o.rel):", "case false:", "internal/box/world", "TestOutput"},
	{"internal/box/world/mover.go", "case there && (low.IsDir() || stampFrom(low).changedSince(t.since)):", "case false:", "internal/box/world", "TestOutput"},
	{"internal/box/world/trees.go", "if names(info) < 2 {", "if true {", "internal/box/world", "TestHeldNames"},
	{"internal/box/world/mover.go", "case t.guards && !info.IsDir() && decidedApart(at):", "case false:", "internal/box/world", "TestObeyedStays"},
	{"internal/files/workspace/node.go", "if part == \"..\" && down {", "if false {", "internal/box/world", "TestDecidedApart"},
	{"internal/box/world/changes.go", "case !ok && w.over == nil:", "case !ok && false:", "internal/box/world", "TestUserChangedIt"},
	{"internal/box/world/changes.go", "case n.link && workspace.LeadsOut(rel, string(text)):", "case false:", "internal/box/world", "TestNotTakenOver"},
	{"internal/box/world/prepare.go", "rejected = rejected || x.node != n", "_ = n", "internal/box/world", "TestOutput"},
	{"internal/box/world/collect.go", "case k.w.layer.shut(rel):", "case false:", "internal/box/world", "TestApartSecrets"},
	{"internal/box/world/collect.go", "why, stays := k.w.layer.stays(rel)", "why, stays := \"\", false", "internal/box/world", "TestApartSecretsBelow"},
	{"internal/box/world/copy.go", "return c.leads(s.at(rel), info)", "return c.copy == stampFrom(info)", "internal/box/world", "TestApartDependencies"},
	{"internal/gate/dispatch/written.go", "switch w.c.decide(one).Outcome {", "switch policy.Allow {", "internal/test/e2e/world", "TestWorldOfModes"},
	{"internal/sys/statedir/statedir.go", "if err := d.Check(); err != nil {", "if err := error(nil); err != nil {", "internal/app", "TestNoWriterBehindLinks"},
	{"internal/git/ownstate/ownstate.go", "case v.tracked[strings.ToLower(name)]:", "case false:", "internal/git/ownstate", "TestTracked"},
	{"internal/git/ownstate/ownstate.go", "case kind != 0 && kind != fs.ModeDir:", "case false:", "internal/git/ownstate", "TestKinds"},
	{"internal/app/home.go", "said, bad := ownstate.SetAside(dir, gitrepo.Options{Programs: o.settings.Programs()})", "_, _ = ownstate.SetAside, gitrepo.Options{}\n\tvar said []string\n\tbad := dir.Check()", "internal/test/e2e/review", "TestStartsInTheMiddleOfACommit"},
	{"pendingedits/unseen.go", "if composed(old.base, p.final, p.content) || ", "if true || ", "pendingedits", "TestCommitOfUnseenText"},
	{"pendingedits/unseen.go", "case isLink != n.link:", "case false:", "pendingedits", "TestCommitOfUnseenText"},
	{"pendingedits/unseen.go", "case p.mode != 0 && workspace.IsExec(p.mode) != ", "case false && p.mode != 0 && workspace.IsExec(p.mode) != ", "pendingedits", "TestCommitOfUnseenText"},
	{"tools/shell/session.go", "_, _ = home.Remove(path.Join(dir, newState)), home.Remove(path.Join(dir, endDir))", "_ = dir", "tools/shell", "TestStateIsPrivate"},
	{"internal/box/sandbox/spec/spec.go", "keep := slices.Contains(kept, name)", "keep := name != \"\"", "internal/box/sandbox", "TestEnvironment"},
	{"internal/gate/dispatch/dispatch.go", "if m.ToStore {\n\t\t\tto = pending", "if false {\n\t\t\tto = pending", "internal/test/e2e/border", "TestTableFiles"},
	{"internal/box/world/export.go", "case w.stays || w.out.has(o.rel) || w.doubts(o.rel):", "case w.doubts(o.rel):", "internal/test/e2e/border", "TestTableOutput"},
	{"internal/exec/confine/world.go", "if held {\n\t\treturn nil", "if false {\n\t\treturn nil", "internal/test/e2e/border", "TestTableGit"},
	{"internal/exec/egress/dial.go", `what != "" && !h.Private`, `false`, "internal/exec/egress", "TestAddresses"},
	{"internal/exec/egress/inspect.go", "case !strings.EqualFold(strings.TrimSuffix(name, \".\"), c.to.Load().host):", "case false:", "internal/exec/egress", "TestServerName"},
	{"internal/exec/egress/inspect.go", `case name == "":`, `case false:`, "internal/exec/egress", "TestServerName"},
	{"internal/exec/egress/inspect.go", "slices.Contains(seen.Extensions, encryptedHello)", "slices.Contains(seen.Extensions[:0], encryptedHello)", "internal/exec/egress", "TestServerName"},
	{"internal/exec/egress/inspect.go", "return errHTTP", "return nil", "internal/exec/egress", "TestHidesHTTP"},
	{"internal/exec/egress/web.go", "name != b.fixed.host", "name == \"\"", "internal/exec/egress", "TestRequests"},
	{"internal/exec/egress/web.go", `r.URL.Opaque != ""`, `false`, "internal/exec/egress", "TestAddressWithin"},
	{"internal/exec/egress/web.go", `!strings.EqualFold(p.Out.Header.Get("Upgrade"), "websocket")`, `false`, "internal/exec/egress", "TestUpgrades"},
	{"internal/exec/egress/decide.go", "case !isHost(name):", "case false:", "internal/exec/egress", "TestOddNames"},
	{"internal/exec/egress/carry.go", "if c.closed.Err() != nil { // while", "if false { // while", "internal/exec/egress", "TestMakesPlaceWhileAsked"},
	{"internal/exec/egress/decide.go", "case !netaddr.IsName(name):", "case !netaddr.IsName(name) && false:", "internal/exec/egress", "TestNotAsked"},
	{"internal/exec/egress/decide.go", "case !hosts.Public(name):", "case false:", "internal/exec/egress", "TestNotAsked"},
	{"internal/exec/egress/decide.go", "case !net.Ask:", "case false:", "internal/exec/egress", "TestSettings"},
	{"internal/exec/egress/decide.go", "return r.asked <= maxAsked", "return true", "internal/exec/egress", "TestManyHosts"},
	{"internal/exec/egress/carry.go", "(sent > sendsAlone || all > sendsInAll)", "(sent > sendsAlone<<20 || all > sendsInAll<<20)", "internal/exec/egress", "TestUploads"},
	{"internal/exec/egress/places.go", "if len(p.all) >= maxPlaces {", "if false {", "internal/exec/egress", "TestPlaces"},
	{"internal/box/net/network_linux.go", "Cloneflags: syscall.CLONE_NEWNET", "Cloneflags: 0", "internal/test/e2e/border", "TestTableNetwork"},
	{"server/commands/ports.go", "case !answer.Allow:", "case false:", "internal/test/e2e/border", "TestTablePort"},
	{"internal/gate/dispatch/border.go", "b.inside = b.lacks == \"\"", "b.inside = true", "internal/test/e2e/border", "TestTableProcess"},
	{"internal/gate/dispatch/border.go", "|| !c.tool.InWorld || ", "|| ", "internal/test/e2e/border", "TestTableProgram"},
	{"internal/rules/policy/rules.go", "return f.AlwaysAsk", "return false", "internal/test/e2e/border", "TestTableSetting"},
	{"internal/gate/effects/effects.go", "if !c.Holds {", "if !c.Holds && false {", "internal/test/e2e/border", "TestIncompleteAsks"},
	{"internal/exec/confine/complete.go", "case level != box.Full:", "case false:", "internal/exec/confine", "TestFullSandbox"},
	{"internal/exec/confine/complete.go", "if use.Shadow {", "if false {", "internal/test/e2e/border", "TestOwnModesAsk"},
	{"internal/exec/confine/complete.go", "len(dirs) > 0 {", "len(dirs) < 0 {", "internal/test/e2e/border", "TestIncompleteAsks"},
	{"internal/exec/confine/complete.go", "case what == worldDisk && why == \"\":", "case false:", "internal/test/e2e/border", "TestIncompleteAsks"},
	{"internal/exec/confine/complete.go", "c.OwnNetwork(); !own {", "c.OwnNetwork(); !own && false {", "internal/test/e2e/border", "TestIncompleteAsks"},
	{"internal/exec/confine/complete.go", "s.inSight(tables, dirs); len(at) > 0 {", "s.inSight(tables, dirs); len(at) > 0 && false {", "internal/test/e2e/border", "TestIncompleteAsks"},
	{"internal/exec/confine/complete.go", "case why != \"\" && use.Git:", "case false:", "internal/test/e2e/border", "TestIncompleteAsks"},
	{"internal/gate/dispatch/border.go", "case p.Outcome == policy.Ask && p.Rule != \"path.protected\":", "case false:", "internal/test/e2e/border", "TestIncompleteAsks"},
	{"internal/gate/dispatch/border.go", "Holds: c.set.Audit", "Holds: true", "internal/test/e2e/border", "TestIncompleteAsks"},
	{"internal/exec/confine/spending.go", "case have.cpu >= may.session:", "case false:", "internal/exec/confine", "TestBounds"},
	{"internal/exec/confine/spending.go", "case background && have.back >= may.background:", "case false:", "internal/exec/confine", "TestBounds"},
	{"internal/exec/confine/spending.go", "\tm.cmd.Pause()", "", "internal/exec/confine", "TestMeter"},
	{"internal/exec/confine/spending.go", "case m.memory > 0 && memory > m.memory:", "case m.memory > 0 && memory < 0:", "internal/exec/confine", "TestMeter"},
	{"internal/exec/confine/spending.go", "over = a.cpu >= may.session", "over = false", "internal/exec/confine", "TestMeter"},
	{"internal/exec/confine/spending.go", "more := max(cpu-booked, 0)", "more := cpu - booked", "internal/exec/confine", "TestMeterNeverFalls"},
}

// guards switches guards off, one by one, in a copy that only the compiler
// sees, and reports whether each is missed. The control is that the same tests
// pass with all of them on.
func guards(ctx context.Context) bool {
	// Without the guard that ends trees of processes, its test leaves some.
	endOrphans, err := keeper.AdoptOrphans()
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return false
	}
	caught, controls := 0, 0
	var missed []string
	passing := map[string]bool{}
	for _, g := range guardList {
		key := g.pkg + " " + g.test
		if _, known := passing[key]; !known {
			passing[key] = test(ctx, g, "") == nil
		}
		if passing[key] {
			controls++
		}
		switch err := g.off1(ctx); {
		case errors.Is(err, errFailed):
			caught++
		case err != nil:
			missed = append(missed, fmt.Sprintf("%s: %q: %v", g.file, g.on, err))
		default:
			missed = append(missed, fmt.Sprintf("%s: %q is not missed by %s", g.file, g.on, g.test))
		}
		endOrphans()
	}
	fmt.Printf("%-4s %-34s %7d tried, %7d held, %6d controls\n", "44", "guards that are missed when off", len(guardList), caught, controls)
	for _, m := range missed {
		fmt.Println("     " + m)
	}
	return caught == len(guardList) && controls == len(guardList)
}

// errFailed says that a test failed, as it should.
var errFailed = errors.New("the test failed")

// off1 tests with the guard off.
func (g guard) off1(ctx context.Context) error {
	data, err := os.ReadFile(g.file)
	if err != nil {
		return err
	}
	if strings.Count(string(data), g.on) == 0 {
		return errors.New("it is not there")
	}
	dir, err := os.MkdirTemp("", "scoreboard-guard-*")
	if err != nil {
		return err
	}
	defer func() { _ = os.RemoveAll(dir) }()
	file, err := filepath.Abs(g.file)
	if err != nil {
		return err
	}
	without, overlay := filepath.Join(dir, "without.go"), filepath.Join(dir, "overlay.json")
	doc, err := json.Marshal(map[string]any{"Replace": map[string]string{file: without}})
	if err != nil {
		return err
	}
	if err := errors.Join(os.WriteFile(without, []byte(strings.ReplaceAll(string(data), g.on, g.off)), 0o600), os.WriteFile(overlay, doc, 0o600)); err != nil {
		return err
	}
	return test(ctx, g, overlay)
}

// test runs the guard's test. The overlay is in the environment, for programs
// that tests build, too.
func test(ctx context.Context, g guard, overlay string) error {
	ctx, cancel := context.WithTimeout(ctx, perLine)
	defer cancel()
	build := exec.CommandContext(ctx, "go", "test", "-c", "-o", os.DevNull, "./"+g.pkg)
	cmd := exec.CommandContext(ctx, "go", "test", "-v", "-vet=off", "-count=1", "-run", "^("+g.test+")$", "./"+g.pkg)
	if overlay != "" {
		flags := strings.TrimSpace(os.Getenv("GOFLAGS") + " -overlay=" + overlay)
		build.Env, cmd.Env = append(os.Environ(), "GOFLAGS="+flags), append(os.Environ(), "GOFLAGS="+flags)
	}
	if out, err := build.CombinedOutput(); err != nil {
		return fmt.Errorf("it does not compile without: %s", tail(string(out)))
	}
	out, err := cmd.CombinedOutput()
	switch {
	case err != nil:
		return errFailed
	case !strings.Contains("\n"+string(out), "\n--- PASS: "):
		return fmt.Errorf("%s of %s was skipped or is not there", g.test, g.pkg) // proves nothing
	}
	return nil
}
