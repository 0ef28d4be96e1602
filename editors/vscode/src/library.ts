// What is used of the client library: most of the code of this extension, in a file of its own that is loaded with the server.
export { CloseAction, ErrorAction, LanguageClient, State } from 'vscode-languageclient/node';
