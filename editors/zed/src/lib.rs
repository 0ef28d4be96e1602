//! Tells Zed how to start sidecar-ls: the program of the setting `lsp.sidecar-ls.binary`, else the one in the PATH.

use zed_extension_api::{self as zed, settings::LspSettings, LanguageServerId, Result, Worktree};

struct Sidecar;

impl zed::Extension for Sidecar {
    fn new() -> Self {
        Sidecar
    }

    fn language_server_command(&mut self, id: &LanguageServerId, worktree: &Worktree) -> Result<zed::Command> {
        let binary = LspSettings::for_worktree(id.as_ref(), worktree)?.binary;
        let path = binary.as_ref().and_then(|b| b.path.clone());
        let arguments = binary.and_then(|b| b.arguments);
        Ok(zed::Command {
            command: path
                .or_else(|| worktree.which("sidecar-ls"))
                .ok_or("there is no sidecar-ls in the PATH; `make install` in its repository builds one")?,
            args: arguments.unwrap_or_else(|| vec!["serve".into()]),
            env: worktree.shell_env(),
        })
    }

    fn language_server_initialization_options(
        &mut self,
        id: &LanguageServerId,
        worktree: &Worktree,
    ) -> Result<Option<zed::serde_json::Value>> {
        Ok(LspSettings::for_worktree(id.as_ref(), worktree)?.initialization_options)
    }
}

zed::register_extension!(Sidecar);
