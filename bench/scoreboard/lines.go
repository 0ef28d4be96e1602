package main

// line is a claim and the tests that try it. What they count is read from what
// they say: figures has groups named held, tried and controls, and is summed
// over all places. Without figures, tests and their sub-tests are counted; each
// of those has its control in it, or it is among controls.
type line struct {
	number   string
	claim    string
	pkg      string
	tests    string // an expression for their names
	figures  string
	controls string // tests that show that the attempt works without the guard
	least    int    // percent that must hold; 0 is all
}

// usual is what tests say that were written for this table.
const usual = `(?P<held>\d+) of (?P<tried>\d+) (?:held|clean|found|unchanged|defused|unasked), (?P<controls>\d+) controls`

// lines are numbered as the list of checks in docs/security.md. Those of parts
// that are not there yet have no package.
var lines = []line{
	{number: "1", claim: "paths out of the workspace", pkg: "internal/test/e2e/trust", tests: "TestEscapes", figures: `tried, (?P<blocked>\d+) refused without effect, (?P<controls>\d+) controls`},
	{number: "2", claim: "roots of shadows and commands", pkg: "internal/test/e2e/shadow", tests: "TestShadowIsConfined|TestShadowGitIsConfined"},
	{number: "2", claim: "a state directory behind links", pkg: "internal/app", tests: "TestNoStateBehindLinks"},
	{number: "3", claim: "renames against reads", pkg: "internal/files/workspace", tests: "TestRace", figures: `of (?P<tried>\d+) reads \d+ inside, \d+ refused, (?P<lost>\d+) leaked; (?P<controls>\d+) leaked`},
	{number: "4", claim: "protected names", pkg: "internal/files/workspace", tests: "TestProtected|TestSensitive|TestGuard"},
	{number: "5", claim: "special files", pkg: "internal/files/workspace", tests: "TestSpecialFiles|TestTooLarge|TestWalkSkipsWhatIsNoFile"},
	{number: "6", claim: "os.Root canaries", pkg: "internal/files/workspace", tests: "TestRootCanaries"},
	{number: "7", claim: "hostile commands asked about", pkg: "internal/rules/policy/shell", tests: "TestCorpus|TestSlips", figures: usual},
	{number: "7", claim: "a deny holds however it is spelt", pkg: "internal/rules/policy/shell", tests: "TestDenyHolds", figures: usual},
	{number: "7", claim: "broad reads asked about", pkg: "internal/rules/policy/shell", tests: "TestBroad", figures: usual},
	{number: "7", claim: "everyday commands unasked", pkg: "internal/rules/policy/shell", tests: "TestEveryday", figures: usual},
	{number: "8", claim: "hostile workspace before trust", pkg: "internal/test/e2e/trust", tests: "TestHostileWorkspace", figures: usual},
	{number: "9", claim: "settings a project may not set", pkg: "internal/config", tests: "TestProjectMayNot", figures: usual},
	{number: "9", claim: "what changes after trust", pkg: "internal/test/e2e/trust", tests: "TestTrustOfContent|TestTrustOfContentAlone|TestTrustHash|TestNotOffered|TestGuardInShadow"},
	{number: "9", claim: "of old and new the stricter", pkg: "internal/config", tests: "TestHeld"},
	{number: "9", claim: "the same while the server runs", pkg: "internal/gate/live", tests: "TestFollow|TestFolders|TestOwnChange|TestModeFollowed"},
	{number: "9", claim: "what counts as trusted content", pkg: "internal/extend/trust", tests: "TestContent|TestLinks|TestSpecial|TestRefused|TestProgramChanged|TestPages|TestLine|TestLoose|TestWronglyTyped|TestExecutable|TestUnshown|TestOwnFiles|TestLinkOnTheWay"},
	{number: "10", claim: "routes to more rights", pkg: "internal/test/e2e/trust", tests: "TestSelfApproval", figures: usual},
	{number: "10", claim: "only a person decides", pkg: "internal/test/e2e/trust", tests: "TestWhoMayDecide|TestWhoMayDecideInWorlds|TestWhoMayDecideAlone|TestCallersAnswerNothing|TestOwnProgramsDecideNothing"},
	{number: "10", claim: "an editor's port knows its callers", pkg: "internal/test/e2e/ide", tests: "TestEditorByPeer|TestEditorSessionsStay"},
	{number: "10", claim: "what the system says of a peer", pkg: "internal/doors/peers", tests: "Test.*"},
	{number: "10", claim: "an agent's entry loosens nothing", pkg: "internal/test/e2e/mcp", tests: "TestAgentMode"},
	{number: "11", claim: "done as shown, or not at all", pkg: "internal/gate/dispatch", tests: "TestTampering", figures: usual},
	{number: "12", claim: "nobody to ask is a no", pkg: "internal/test/e2e/trust", tests: "TestHeadless", figures: usual},
	{number: "12", claim: "a program's no is nobody's", pkg: "internal/test/e2e/mcp", tests: "TestAgentWithoutUser", controls: "TestAgentAsks"},
	{number: "13", claim: "sub-agents never wider"},
	{number: "14", claim: "ways out of the sandbox", pkg: "internal/box/sandbox", tests: "TestEscapes", figures: usual},
	{number: "14", claim: "the same for another user", pkg: "internal/box/sandbox", tests: "TestAsUser", figures: usual},
	{number: "14", claim: "repositories made by commands", pkg: "internal/test/e2e/git", tests: "TestRepositoriesOfCommands|TestLinkedTreeOfCommands", figures: usual},
	{number: "14", claim: "the same while they run, and killed", pkg: "internal/test/e2e/git", tests: "TestRepositoriesWhileRunning|TestRepositoriesOfKilledServer|TestHarmlessRepositories"},
	{number: "14", claim: "repositories made by language servers", pkg: "internal/app", tests: "TestServersMakeNoRepositories"},
	{number: "14", claim: "secrets wherever they lie", pkg: "internal/test/e2e/world", tests: "TestSecretsOfCommands", figures: usual},
	{number: "14", claim: "sockets in the workspace", pkg: "internal/test/e2e/world", tests: "TestSocketsOfCommands", figures: usual},
	{number: "14", claim: "programs that the server starts", pkg: "internal/test/e2e/trust", tests: "TestPlantedPrograms"},
	{number: "14", claim: "the places that they come from", pkg: "internal/sys/lookup", tests: "TestNotTaken|TestOthersWrite|TestLaterFolders|TestHelpers|TestEnviron"},
	{number: "14", claim: "what agents obey, in worlds", pkg: "internal/test/e2e/run", tests: "TestAgentsState|TestAgentsHomeLinks|TestAgentsProgram|TestAgentsSeeNoEditor"},
	{number: "15", claim: "machines that lack something", pkg: "internal/box/sandbox", tests: "TestDegrade|TestRemembered|TestModes|TestWorldFails"},
	{number: "15", claim: "less than all of it asks", pkg: "internal/test/e2e/world", tests: "TestLevelsBelowBubblewrap"},
	{number: "16", claim: "trees of processes ended", pkg: "internal/box/sandbox", tests: "TestTree|TestServerDies|TestServerDiesIdle|TestKeeper.*"},
	{number: "17", claim: "bombs bounded", pkg: "internal/box/sandbox", tests: "TestLimits"},
	{number: "18", claim: "no keys in what a command sees", pkg: "internal/box/sandbox", tests: "TestEnvironment"},
	{number: "19", claim: "git configurations", pkg: "internal/git/gitrepo", tests: "TestHostileConfiguration", figures: `evil ran in (?P<controls>\d+) of (?P<tried>\d+) by plain git, in (?P<lost>\d+) by us`},
	{number: "19", claim: "git configurations, listed", pkg: "internal/git/gitrepo", tests: "TestConfigurationCases", figures: `(?P<tried>\d+) cases, (?P<controls>\d+) controls`},
	{number: "20", claim: "arguments of git", pkg: "tools/git", tests: "TestInjectedArguments|TestArguments"},
	{number: "21", claim: "addresses of web_fetch", pkg: "tools/web", tests: "TestForbiddenAddresses", figures: `(?P<tried>\d+) addresses tried, (?:(?P<blocked>\d+)) blocked, (?P<controls>\d+) allowed`},
	{number: "21", claim: "addresses dialled, redirects", pkg: "tools/web", tests: "TestTheDialedAddressIsChecked|TestRedirects|TestNoProxy|TestBeforeAnybodyIsAsked"},
	{number: "22", claim: "bodies of web_fetch", pkg: "tools/web", tests: "TestBodies|TestCancel|TestHostilePages"},
	{number: "23", claim: "hostile MCP servers", pkg: "internal/extend/mcp/source", tests: "TestHostile|TestCrashLoop|TestAsked|TestBroken"},
	{number: "23", claim: "schemas that do not end", pkg: "tools", tests: "TestSchemasThatDoNotEnd"},
	{number: "23", claim: "MCP tools behind the gate", pkg: "internal/test/e2e/mcp", tests: "TestMCPServers"},
	{number: "24", claim: "MCP servers that change", pkg: "internal/extend/mcp/source", tests: "TestTrust|TestPinned|TestCantBeKept"},
	{number: "25", claim: "output sanitised", pkg: "internal/text/redact", tests: "TestSanitize", figures: usual},
	{number: "26", claim: "nothing fetched when shown", pkg: "internal/text/redact", tests: "TestNothingIsFetched", figures: usual},
	{number: "27", claim: "secrets found, listed and drawn", pkg: "internal/text/redact", tests: "TestSecrets|TestVariants", figures: usual, least: 98},
	{number: "27", claim: "known values at sinks, encoded", pkg: "internal/test/e2e/trust", tests: "TestKnownValuesReachNoSink|TestSecretsReachNoSink", figures: usual},
	{number: "27", claim: "strings hidden before encoding", pkg: "internal/gate/dispatch", tests: "TestHideJSON", figures: usual},
	{number: "27", claim: "known values over broken lines", pkg: "internal/text/redact", tests: "TestKnownAcrossLines", figures: usual},
	{number: "28", claim: "harmless texts unchanged", pkg: "internal/text/redact", tests: "TestHarmlessTextStays", figures: usual},
	{number: "29", claim: "own files private", pkg: "internal/files/workspace", tests: "TestTempIsPrivate|TestNewFileMode"},
	{number: "29", claim: "what commands leave to the next", pkg: "tools/shell", tests: "TestStateIsPrivate|TestStateIsNoWayOut"},
	{number: "29", claim: "nothing kept behind links", pkg: "internal/app", tests: "TestNoWriterBehindLinks", figures: usual},
	{number: "30", claim: "saved as it was", pkg: "internal/test/e2e/tools", tests: "TestFidelity"},
	{number: "30", claim: "modes, owners, attributes", pkg: "internal/files/workspace", tests: "TestMetadata|TestTwoNamesOfOneFile"},
	{number: "31", claim: "killed at each point of a save", pkg: "internal/files/workspace", tests: "TestCrash|TestCrashControl", figures: `(?P<tried>\d+) kills at|(?P<controls>\d+) of 6 mixed`},
	{number: "31", claim: "killed while edits wait", pkg: "pendingedits", tests: "TestKilled", figures: `(?P<tried>\d+) tried, (?P<held>\d+) held, .* failed at (?P<controls>\d+)`},
	{number: "31", claim: "killed while a commit is made", pkg: "internal/gate/batchcommit", tests: "TestKilled|TestKilledAnywhere"},
	{number: "32", claim: "killed again in recovery", pkg: "internal/files/workspace", tests: "TestCrashInRecovery", figures: `(?P<tried>\d+) kills in recovery`, controls: "TestCrashControl"},
	{number: "33", claim: "full and read-only disks", pkg: "internal/files/workspace", tests: "TestFullDevice|TestReadOnlyDevice"},
	{number: "34", claim: "power cuts"},
	{number: "35", claim: "damaged journals", pkg: "internal/files/workspace", tests: "TestJournalDamage|TestRecoverTorn", figures: `(?P<tried>\d+) damaged journals`, controls: "TestRecover"},
	{number: "35", claim: "starts with any state directory", pkg: "internal/test/e2e/review", tests: "TestAnyState|TestStartsInTheMiddleOfACommit"},
	{number: "35", claim: "state of a repository or another user", pkg: "internal/git/ownstate", tests: "TestTracked|TestAnotherOwner|TestKinds"},
	{number: "36", claim: "another writer meanwhile", pkg: "pendingedits", tests: "TestOutsideWriter", figures: `(?P<tried>\d+) tried, (?P<held>\d+) held; control lost (?P<controls>\d+)`},
	{number: "37", claim: "the queue beside a model", pkg: "pendingedits", tests: "TestModel"},
	{number: "37", claim: "commits have what was shown", pkg: "pendingedits", tests: "TestCommitOfUnseenText|TestCommitOfAcceptedMode"},
	{number: "37", claim: "commits by commands, by plumbing too", pkg: "internal/test/e2e/git", tests: "TestCommitsHaveWhatWasShown"},
	{number: "38", claim: "frames and messages", pkg: "server", tests: "TestCorpus"},
	{number: "40", claim: "many calls at once", pkg: "internal/test/e2e/review", tests: "TestManyCalls"},
	{number: "41", claim: "clients that die or do not read", pkg: "internal/wire/lsp", tests: "TestClientThatDoesNotRead|TestClientThatNeverReads|TestPeerGone|TestStreamEnds"},
	{number: "41", claim: "servers that are killed", pkg: "internal/test/e2e/review", tests: "TestKilledServer"},
	{number: "47", claim: "output stays off the disk", pkg: "internal/box/world", tests: "TestHeld|TestHeldKilled|TestHeldQuota"},
	{number: "47", claim: "obeyed names in output are decided", pkg: "internal/box/world", tests: "TestDecidedApart|TestEnvironmentLinks"},
	{number: "47", claim: "MCP servers and builds of language servers", pkg: "internal/test/e2e/mcp", tests: "TestMCPAccess|TestMCPWritesOfNobody|TestLanguageServersBuild"},
	{number: "47", claim: "folders that settings leave writable", pkg: "internal/test/e2e/world", tests: "TestWritableAround"},
	{number: "48", claim: "directories swapped for links", pkg: "internal/box/world", tests: "TestSwappedDirectories"},
	{number: "48", claim: "the same for settings files", pkg: "internal/doors/setup", tests: "TestSwappedDirectory"},
	{number: "48", claim: "moves below open directories", pkg: "internal/sys/osfile", tests: "TestMove|TestMoveRace|TestSubLinks"},
	{number: "49", claim: "the server's own state unseen", pkg: "internal/test/e2e/world", tests: "TestWorldHidesOwnState"},
	{number: "45", claim: "hooks that fail, lie or never end", pkg: "internal/rules/hooks", tests: "TestFailures|TestAnswers|TestBreaker|TestGivenUp|TestAhead|TestParse|TestStricter|TestProgramChanged|TestNotStarted"},
	{number: "45", claim: "hooks loosen nothing", pkg: "internal/gate/dispatch", tests: "TestHooks|TestHooksHear"},
	{number: "45", claim: "hooks confined; a project's once trusted", pkg: "internal/test/e2e/tools", tests: "TestHooks|TestHooksOfProject"},
	{number: "46", claim: "hostile plugins", pkg: "internal/extend/plugin", tests: "TestHostile|TestLinks|TestMoved|TestParts|TestMemory|TestProject"},
	{number: "46", claim: "plugins that change, or cover a tool", pkg: "internal/test/e2e/tools", tests: "TestPlugins|TestCustomTools"},
}
