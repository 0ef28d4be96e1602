# Parses the line that $env:SIDECAR_PARSE has in base64, and prints as JSON in ASCII what
# it would do: its commands wherever they stand, the files that it writes, and what
# keeps a reader from knowing. Nothing of the line runs.
$ErrorActionPreference = 'Stop'
$ProgressPreference = 'SilentlyContinue'
$text = [Text.Encoding]::UTF8.GetString([Convert]::FromBase64String($env:SIDECAR_PARSE))
$tokens = $null
$errors = $null
$tree = [System.Management.Automation.Language.Parser]::ParseInput($text, [ref]$tokens, [ref]$errors)
# Kinds of nodes that run nothing by themselves: what is below them is looked at.
$plain = 'ScriptBlockAst', 'NamedBlockAst', 'StatementBlockAst', 'PipelineAst', 'PipelineChainAst', 'CommandExpressionAst',
  'ParenExpressionAst', 'SubExpressionAst', 'ArrayExpressionAst', 'ArrayLiteralAst', 'StringConstantExpressionAst',
  'ConstantExpressionAst', 'ExpandableStringExpressionAst', 'VariableExpressionAst', 'CommandParameterAst',
  'MergingRedirectionAst', 'FileRedirectionAst', 'CommandAst', 'ScriptBlockExpressionAst', 'IfStatementAst'
function Word($n) {
  switch ($n.GetType().Name) {
    'StringConstantExpressionAst' {
      $bare = "$($n.StringConstantType)" -eq 'BareWord'
      return @{ text = $n.Value; known = $true; glob = ($bare -and $n.Value -match '[*?\[]') }
    }
    'ConstantExpressionAst' { return @{ text = $n.Extent.Text; known = $true; glob = $false } }
    'CommandParameterAst' {
      $known = $null -eq $n.Argument -or $n.Argument.GetType().Name -in 'StringConstantExpressionAst', 'ConstantExpressionAst'
      return @{ text = $n.Extent.Text; known = $known; glob = $false }
    }
  }
  return @{ text = $n.Extent.Text; known = $false; glob = $false }
}
$commands = @()
$writes = @()
$doubts = @()
foreach ($n in $tree.FindAll({ $true }, $true)) {
  $kind = $n.GetType().Name
  if ($plain -notcontains $kind) { $doubts += "it has a $kind" }
  if ($kind -eq 'CommandAst') {
    if ("$($n.InvocationOperator)" -eq 'Dot') { $doubts += 'it runs something in the shell itself' }
    $words = @()
    foreach ($e in $n.CommandElements) { $words += , (Word $e) }
    $commands += , @{ text = $n.Extent.Text; words = $words }
  }
  if ($kind -eq 'FileRedirectionAst' -and $n.Location.Extent.Text -ne '$null') { $writes += , (Word $n.Location) }
}
$said = @{ errors = @($errors | ForEach-Object { $_.Message }); commands = $commands; writes = $writes; doubts = $doubts }
$json = ConvertTo-Json -InputObject $said -Depth 8 -Compress
[Console]::Out.Write([regex]::Replace($json, '[^\x20-\x7e]', { param($m) '\u{0:x4}' -f [int][char]$m.Value }))
